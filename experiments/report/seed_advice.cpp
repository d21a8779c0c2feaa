#include "experiments/report/seed_advice.hpp"

#include "experiments/report/answers.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/statistics/comparison.hpp"

#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace heed {

namespace {

constexpr double power = 0.8;

std::string first_line(std::size_t seeds) {
  if (seeds < statistics::seeds_for_level(statistics::significance_level))
    return underpowered_words(fmt::format("{}", seeds), statistics::smallest_p(seeds),
                              statistics::seeds_for_level(statistics::significance_level));
  return fmt::format("n = {} can go down to p {}", seeds, p_with_relation(statistics::smallest_p(seeds)));
}

} // namespace

std::string seed_advice(const Plan& plan, std::optional<double> effect) {
  std::size_t compared = 0;
  for (std::size_t a = 0; a < plan.arms.size(); ++a) compared += plan.arms[a].reference != a;
  if (compared == 0) return "";
  const std::vector<double> effects = effect ? std::vector{*effect} : std::vector{0.5, 1.0, 1.5, 2.0};

  TextTable table{{"effect d_z", "seeds"}, {Align::right, Align::right}, {}};
  if (compared > 1) {
    table.headings.push_back(fmt::format("of {} arms, each", compared));
    table.alignment.push_back(Align::right);
  }
  for (const double size : effects) {
    std::vector<std::string> row{fmt::format("{:g}", size)};
    for (const std::size_t arms : {std::size_t{1}, compared})
      if (row.size() < table.headings.size())
        row.push_back(with_commas(static_cast<std::int64_t>(
            statistics::seeds_for_effect(size, power, statistics::significance_level, arms))));
    table.rows.push_back(std::move(row));
  }
  return fmt::format(
      "  seeds    {}\n\n{}\n  About the seeds that find an arm's effect in {:.0f} of 100 sweeps at p <= {:g}; "
      "d_z is the mean difference in\n  standard deviations of the differences.\n",
      first_line(plan.seeds.size()), to_text(table), 100 * power, statistics::significance_level);
}

} // namespace heed
