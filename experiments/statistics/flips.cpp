#include "experiments/statistics/flips.hpp"

#include "experiments/statistics/scaled_differences.hpp"
#include "experiments/statistics/signed_sums.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

namespace heed::statistics {

namespace {

/// What rounding may take from one of two statistics that are equal on paper.
constexpr double rounding = 1e-12;

Flips flips_for(std::size_t seeds, Sides sides) {
  if (seeds > most_exact_seeds) return Flips::sampled;
  return sides == Sides::both ? Flips::half : Flips::all;
}

} // namespace

FlipTest step_down_flips(std::span<const SeedDifferences> arms, Sides sides) {
  check(arms);
  if (arms.empty()) return {{}, true, 1};
  std::vector<ScaledDifferences> scaled;
  for (const SeedDifferences& arm : arms) scaled.emplace_back(arm.values);
  const auto statistic = [&](const ScaledDifferences& arm, double sum) {
    const double size = size_of_t(arm.n, arm.squares, sum);
    return sides == Sides::above && sum < 0 ? -size : size;
  };
  std::vector<double> observed;
  for (const ScaledDifferences& arm : scaled) observed.push_back(statistic(arm, arm.sum));

  // Columns in falling order of what the arms are ordered by: |t|, or t.
  std::vector<std::size_t> order(arms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t arm) { return observed[arm]; });
  const std::map<std::int64_t, std::size_t> rows = rows_of(arms);
  SeedRows table{rows.size(), arms.size(), std::vector<double>(rows.size() * arms.size(), 0.0)};
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t s = 0; s < arms[order[i]].seeds.size(); ++s)
      table.values[rows.at(arms[order[i]].seeds[s]) * table.columns + i] = scaled[order[i]].values[s];

  // Of each arm: the flips in which it, or one after it, reaches what the arm has.
  std::vector<std::uint64_t> reached(arms.size(), 0);
  const Flips which = flips_for(table.seeds, sides);
  const std::uint64_t count = each_flip(table, which, [&](const double* sums) {
    double largest = -1;
    for (std::size_t i = order.size(); i-- > 0;) {
      largest = std::max(largest, statistic(scaled[order[i]], sums[i]));
      if (largest >= observed[order[i]] - rounding) ++reached[i];
    }
  });

  FlipTest test;
  test.exact = which != Flips::sampled;
  test.flips = which == Flips::half ? 2 * count : count;
  test.p.resize(arms.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    test.p[order[i]] = largest = std::max(largest, static_cast<double>(reached[i]) / static_cast<double>(count));
  return test;
}

} // namespace heed::statistics
