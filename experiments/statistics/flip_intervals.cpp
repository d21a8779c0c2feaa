#include "experiments/statistics/flip_intervals.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/scaled_differences.hpp"
#include "experiments/statistics/signed_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>

namespace heed::statistics {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The two largest t^2 / (1 + t^2) of a flip, and whose the largest is.
struct Largest {
  double first = 0, second = 0;
  std::uint32_t arm = 0;

  double without(std::size_t other) const { return arm == other ? second : first; }
};

/// What flips of the differences about their means reach, in the order of the flips.
std::vector<Largest> largest_of(std::span<const ScaledDifferences> arms, const SeedRows& centred, Flips flips) {
  std::vector<double> squares(arms.size(), 0.0);
  for (std::size_t at = 0; at < centred.values.size(); ++at)
    squares[at % arms.size()] += centred.values[at] * centred.values[at];
  std::vector<Largest> out;
  each_flip(centred, flips, [&](const double* sums) {
    Largest largest;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const double size = size_of_t(arms[i].n, squares[i], sums[i]);
      if (size > largest.first) largest = {size, largest.first, static_cast<std::uint32_t>(i)};
      else largest.second = std::max(largest.second, size);
    }
    out.push_back(largest);
  });
  return out;
}

/// Between the `rank`-th smallest low end and the `rank`-th largest high end.
std::optional<Interval> between(std::vector<double>& lows, std::vector<double>& highs, std::size_t rank) {
  const auto at = static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(lows.begin(), lows.begin() + at, lows.end());
  std::nth_element(highs.begin(), highs.begin() + at, highs.end(), std::greater<>());
  const Interval out{lows[rank - 1], highs[rank - 1]};
  if (!std::isfinite(out.low) || !std::isfinite(out.high)) return std::nullopt;
  return out;
}

} // namespace

FlipIntervals flip_intervals(std::span<const SeedDifferences> arms, double confidence) {
  check(arms);
  if (!(confidence > 0 && confidence < 1))
    throw Failed(fmt::format("[statistics] a confidence lies between 0 and 1: {}", confidence));
  if (arms.empty()) return {};
  std::vector<ScaledDifferences> scaled;
  for (const SeedDifferences& arm : arms) scaled.emplace_back(arm.values);
  const std::map<std::int64_t, std::size_t> rows = rows_of(arms);
  const Flips flips = rows.size() > most_exact_seeds ? Flips::sampled : Flips::half;

  SeedRows centred{rows.size(), arms.size(), std::vector<double>(rows.size() * arms.size(), 0.0)};
  for (std::size_t i = 0; i < arms.size(); ++i)
    for (std::size_t s = 0; s < arms[i].seeds.size(); ++s)
      centred.values[rows.at(arms[i].seeds[s]) * arms.size() + i] = scaled[i].values[s] - scaled[i].sum / scaled[i].n;
  const std::vector<Largest> largest = largest_of(scaled, centred, flips);
  // So many flips must reach a theta, the data as they are among them, for p to be above the level.
  const double count = static_cast<double>(largest.size());
  const auto rank = static_cast<std::size_t>(std::floor((1 - confidence) * count + 1e-9)) + 1;

  FlipIntervals out;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const ScaledDifferences& arm = scaled[i];
    const double mean = arm.sum / arm.n;
    double spread = 0;
    SeedRows own{rows.size(), 2, std::vector<double>(rows.size() * 2, 0.0)}; // a difference, and that there is one
    for (std::size_t s = 0; s < arms[i].seeds.size(); ++s) {
      double* row = own.values.data() + rows.at(arms[i].seeds[s]) * 2;
      row[0] = arm.values[s];
      row[1] = 1;
      spread += (arm.values[s] - mean) * (arm.values[s] - mean);
    }
    const double error = arm.n > 1 ? std::sqrt(spread / (arm.n - 1) / arm.n) : 0;

    std::vector<double> lows, highs, lows_together, highs_together;
    each_flip(own, flips, [&](const double* sums) {
      const double size = largest[lows.size()].without(i);
      const bool whole = std::abs(sums[1]) == arm.n; // all differences keep their signs, or all are turned
      const double turned = whole ? -infinite : (arm.sum - sums[0]) / (arm.n - sums[1]),
                   left = whole ? infinite : (arm.sum + sums[0]) / (arm.n + sums[1]);
      lows.push_back(std::min(turned, left));
      highs.push_back(std::max(turned, left));
      const double reach = error > 0 ? error * std::sqrt(size / (1 - size)) : 0;
      lows_together.push_back(std::min(lows.back(), mean - reach));
      highs_together.push_back(std::max(highs.back(), mean + reach));
    });
    const auto unscaled = [&](std::optional<Interval> interval) {
      if (interval) interval = Interval{interval->low * arm.scale, interval->high * arm.scale};
      return interval;
    };
    out.alone.push_back(unscaled(between(lows, highs, rank)));
    out.together.push_back(unscaled(between(lows_together, highs_together, rank)));
  }
  return out;
}

} // namespace heed::statistics
