#include "experiments/statistics/example_variance.hpp"
#include "tests/simulation/answers.hpp"
#include "tests/simulation/promises.hpp"
#include "tests/simulation/sweeps.hpp"

#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace heed::simulation {

namespace {

using Rows = std::vector<std::vector<double>>;

/// The standard deviations of a run: of its seed, of each example, which all seeds share, and of a seed on an example.
struct Noise {
  double seed, example, residual;
};

/// An arm's runs. Results on the m examples have a mean over all examples that could be drawn, which is 0.
Rows draw_rows(const Noise& noise, std::size_t seeds, std::size_t examples, RandomSource& random) {
  std::vector<double> of_examples(examples);
  for (double& x : of_examples) x = noise.example * random.normal();
  Rows rows(seeds, of_examples);
  for (std::vector<double>& row : rows) {
    const double of_seed = noise.seed * random.normal();
    for (double& x : row) x += of_seed + noise.residual * random.normal();
  }
  return rows;
}

} // namespace

void other_examples(Points& points, std::size_t tables, bool all) {
  Table table({"spread of examples to seeds", "examples", "seeds", "runs", "hold over both", "hold over seeds only"});
  std::uint64_t draws = 0;
  for (const bool paired : {true, false})
    for (const std::size_t examples : {100, 1000}) {
      if (examples == 1000 && !all) continue;
      for (const double ratio : {0.03, 1.0, 10.0}) {
        const std::size_t seeds = 6;
        Rate both, seeds_only;
        ++draws;
        for (std::size_t number = 0; number < tables; ++number) {
          RandomSource random({7000 + draws, heed::Stream::test, number});
          // The ratio is that of the parts of the error of the mean: of the examples to the seeds.
          const Noise noise{1, std::sqrt(ratio * static_cast<double>(examples) / static_cast<double>(seeds)), 1};
          Rows a = draw_rows(noise, seeds, examples, random), b = draw_rows({1, 0, 1}, seeds, examples, random);
          const auto over = paired ? over_examples(a, b) : over_examples_unpaired(a, b);
          both.add(over && over->interval.low <= 0 && over->interval.high >= 0);
          std::vector<double> of_a, of_b;
          for (std::size_t s = 0; s < seeds; ++s) {
            of_a.push_back(mean(a[s]));
            of_b.push_back(mean(b[s]));
          }
          if (paired) seeds_only.add(holds(paired_difference(of_a, of_b).interval, 0));
        }
        table.row({fmt::format("{:g}", ratio), fmt::to_string(examples), fmt::to_string(seeds),
                   paired ? "paired" : "unpaired"},
                  {both, seeds_only});
        const std::string name = fmt::format("other examples, ratio {:g}, {} examples, {}: the interval holds", ratio,
                                             examples, paired ? "paired" : "unpaired");
        points.at_least(0.94, both, name);
        points.at_most(0.965, both, name + " no more often than it states");
      }
    }
  table.print();
}

} // namespace heed::simulation
