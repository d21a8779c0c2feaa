#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/example_variance.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace heed::statistics;

namespace {

using Rows = std::vector<std::vector<double>>;

/// Rows of normal numbers: a part of the seed, a part of the example, and the rest.
Rows drawn_rows(std::size_t seeds, std::size_t examples, double of_seed, double of_example, std::uint64_t number) {
  heed::RandomSource random({number, heed::Stream::test, 0});
  std::vector<double> parts(examples);
  for (double& x : parts) x = of_example * random.normal();
  Rows rows(seeds, parts);
  for (auto& row : rows) {
    const double part = of_seed * random.normal();
    for (double& x : row) x += part + random.normal();
  }
  return rows;
}

/// The table of the analysis of variance, from sums of squares of totals, as textbooks write it by hand.
struct Squares {
  double seed, example, residual;
};
Squares squares_by_hand(const Rows& d) {
  const auto n = static_cast<double>(d.size()), m = static_cast<double>(d.front().size());
  double all = 0, total = 0, of_seeds = 0, of_examples = 0;
  for (const auto& row : d) {
    double sum = 0;
    for (const double x : row) {
      sum += x;
      all += x * x;
    }
    total += sum;
    of_seeds += sum * sum / m;
  }
  for (std::size_t e = 0; e < d.front().size(); ++e) {
    double sum = 0;
    for (const auto& row : d) sum += row[e];
    of_examples += sum * sum / n;
  }
  const double correction = total * total / (n * m);
  return {(of_seeds - correction) / (n - 1), (of_examples - correction) / (m - 1),
          (all - of_seeds - of_examples + correction) / ((n - 1) * (m - 1))};
}

} // namespace

TEST_CASE("the interval over seeds and examples is that of the two-way analysis of variance", "[statistics]") {
  for (const double of_example : {0.1, 1.0, 6.0}) {
    const std::size_t n = 6, m = 40;
    const Rows a = drawn_rows(n, m, 1, of_example, 11), b = drawn_rows(n, m, 0.5, 0, 12);
    Rows d = a;
    for (std::size_t s = 0; s < n; ++s)
      for (std::size_t e = 0; e < m; ++e) d[s][e] -= b[s][e];
    const Squares squares = squares_by_hand(d);
    const double cells = static_cast<double>(n * m), least = squares.seed / cells,
                 variance = std::max(least, (squares.seed + squares.example - squares.residual) / cells);
    double freedom = n - 1;
    if (variance > least)
      freedom = std::max(freedom,
                         std::pow(variance * cells, 2) /
                             (squares.seed * squares.seed / (n - 1) + squares.example * squares.example / (m - 1) +
                              squares.residual * squares.residual / ((n - 1) * (m - 1))));
    const auto over = over_examples(a, b);
    REQUIRE(over);
    CHECK(over->examples == m);
    CHECK(over->freedom == Approx(freedom));
    CHECK((over->interval.low + over->interval.high) / 2 == Approx(over->mean));
    CHECK((over->interval.high - over->interval.low) / 2 ==
          Approx(student_quantile(freedom, 0.975) * std::sqrt(variance)));
    CHECK(over->share_of_examples == Approx(1 - least / variance).margin(1e-12));
  }
}

TEST_CASE("examples without an effect of their own leave the interval over seeds", "[statistics]") {
  // Each seed has the same difference on all examples: their variance is 0.
  const std::vector<double> differences{0.3, -0.1, 0.4, 0.2, 0.1};
  Rows a, b;
  for (const double d : differences) {
    b.emplace_back(50, 1.0);
    a.emplace_back(50, 1.0 + d);
  }
  const auto over = over_examples(a, b);
  const auto seeds = paired_difference(differences, std::vector<double>(5, 0.0));
  REQUIRE(over);
  CHECK(over->interval.low == Approx(seeds.interval->low));
  CHECK(over->interval.high == Approx(seeds.interval->high));
  CHECK(over->share_of_examples == Approx(0).margin(1e-9));
  CHECK(over->freedom == Approx(4));
}

TEST_CASE("unpaired runs: without examples' own effects, the interval is Welch's", "[statistics]") {
  const std::vector<double> of_a{1.0, 1.3, 0.8, 1.1}, of_b{0.9, 0.2, 0.5, 0.7, 0.6};
  Rows a, b;
  for (const double x : of_a) a.emplace_back(40, x);
  for (const double x : of_b) b.emplace_back(40, x);
  // R: t.test(c(1, 1.3, .8, 1.1), c(.9, .2, .5, .7, .6)): by hand, s_a^2 = 0.13/3, s_b^2 = 0.268/4.
  const double va = 0.13 / 3 / 4, vb = 0.268 / 4 / 5, freedom = (va + vb) * (va + vb) / (va * va / 3 + vb * vb / 4);
  const auto over = over_examples_unpaired(a, b);
  REQUIRE(over);
  CHECK(over->mean == Approx(1.05 - 0.58));
  CHECK(over->freedom == Approx(freedom));
  CHECK(over->interval.high - over->mean == Approx(student_quantile(freedom, 0.975) * std::sqrt(va + vb)));
}

TEST_CASE("an interval over examples needs seeds, examples and a spread", "[statistics]") {
  const Rows few = drawn_rows(6, fewest_examples - 1, 1, 1, 1), others = drawn_rows(6, fewest_examples - 1, 1, 1, 2);
  CHECK_FALSE(over_examples(few, others));
  const Rows one = drawn_rows(1, 40, 1, 1, 1), other = drawn_rows(1, 40, 1, 1, 2);
  CHECK_FALSE(over_examples(one, other));
  CHECK_FALSE(over_examples_unpaired(one, other));
  const Rows same = drawn_rows(6, 40, 1, 1, 1);
  CHECK_FALSE(over_examples(same, same));
  Rows ragged = drawn_rows(6, 40, 1, 1, 2);
  ragged[3].pop_back();
  CHECK_THROWS_AS(over_examples(same, ragged), heed::Failed);
  CHECK_THROWS_AS(over_examples(same, one), heed::Failed);
}
