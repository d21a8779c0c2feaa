#include "experiments/statistics/flips.hpp"

#include "experiments/statistics/scaled_differences.hpp"
#include "experiments/statistics/signed_sums.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

namespace heed::statistics {

namespace {

/// The largest relative rounding error between two statistics that are equal in exact arithmetic.
constexpr double rounding_of_t = 1e-12;

Flips flips_for(std::size_t seeds, Sides sides) {
  if (seeds > most_exact_seeds) return Flips::sampled;
  return sides == Sides::both ? Flips::half : Flips::all;
}

/// Groups of arms with the same seeds, in any order. Each group is limited to the number of columns for which the flip
/// sums are efficient.
std::vector<std::vector<std::size_t>> with_same_seeds(std::span<const SeedDifferences> arms) {
  constexpr std::size_t most = 16;
  std::vector<std::vector<std::size_t>> out;
  std::map<std::vector<std::int64_t>, std::size_t> open; // the group that the next arm with these seeds joins
  for (std::size_t i = 0; i < arms.size(); ++i) {
    std::vector<std::int64_t> seeds = arms[i].seeds;
    std::ranges::sort(seeds);
    const auto [at, is_new] = open.try_emplace(std::move(seeds), out.size());
    if (is_new || out[at->second].size() == most) {
      at->second = out.size();
      out.emplace_back();
    }
    out[at->second].push_back(i);
  }
  return out;
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

  // Columns sorted in decreasing order of the statistic (|t| or t).
  std::vector<std::size_t> order(arms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t arm) { return observed[arm]; });
  const std::map<std::int64_t, std::size_t> rows = rows_of(arms);
  std::vector<SeedValue> values;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t s = 0; s < arms[order[i]].seeds.size(); ++s)
      values.push_back({rows.at(arms[order[i]].seeds[s]), i, scaled[order[i]].values[s]});
  const SeedRows table(rows.size(), arms.size(), std::move(values));

  // For each arm: the number of flips in which it, or an arm after it, reaches the arm's observed statistic.
  std::vector<std::uint64_t> reached(arms.size(), 0);
  const Flips which = flips_for(table.seeds(), sides);
  const std::uint64_t count = each_flip(table, which, [&](const double* sums) {
    double largest = -1;
    for (std::size_t i = order.size(); i-- > 0;) {
      largest = std::max(largest, statistic(scaled[order[i]], sums[i]));
      if (largest >= observed[order[i]] - rounding_of_t) ++reached[i];
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

std::vector<double> flips_of_each(std::span<const SeedDifferences> arms) {
  check(arms);
  std::vector<double> p(arms.size());
  for (const std::vector<std::size_t>& members : with_same_seeds(arms)) {
    const std::map<std::int64_t, std::size_t> rows = rows_of(arms.subspan(members.front(), 1));
    std::vector<SeedValue> values;
    std::vector<ScaledDifferences> scaled;
    std::vector<double> observed;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const SeedDifferences& arm = arms[members[i]];
      const ScaledDifferences& of = scaled.emplace_back(arm.values);
      observed.push_back(size_of_t(of.n, of.squares, of.sum));
      for (std::size_t s = 0; s < arm.seeds.size(); ++s) values.push_back({rows.at(arm.seeds[s]), i, of.values[s]});
    }
    const SeedRows table(rows.size(), members.size(), std::move(values));
    std::vector<std::uint64_t> reached(members.size(), 0);
    const std::uint64_t count = each_flip(table, flips_for(table.seeds(), Sides::both), [&](const double* sums) {
      for (std::size_t i = 0; i < members.size(); ++i)
        reached[i] += size_of_t(scaled[i].n, scaled[i].squares, sums[i]) >= observed[i] - rounding_of_t;
    });
    for (std::size_t i = 0; i < members.size(); ++i)
      p[members[i]] = static_cast<double>(reached[i]) / static_cast<double>(count);
  }
  return p;
}

} // namespace heed::statistics
