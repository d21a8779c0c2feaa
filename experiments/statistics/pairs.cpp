#include "experiments/statistics/pairs.hpp"

#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace heed::statistics {

namespace {

/// Values that differ by rounding alone become equal: those around an anchor take its value, and other groups take that
/// of their middle.
/// @param rounding  of each value; two values are equal within the smaller of theirs
void settle(std::vector<double>& values, const std::vector<double>& rounding, std::initializer_list<double> anchors) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    double& x = values[i];
    const auto anchor = std::ranges::find_if(anchors, [&](double a) { return std::abs(x - a) <= rounding[i]; });
    if (anchor != anchors.end()) x = *anchor;
    else order.push_back(i);
  }
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  for (auto from = order.begin(); from != order.end();) {
    const auto to = std::find_if(from, order.end(), [&](std::size_t i) {
      return values[i] - values[*from] > std::min(rounding[i], rounding[*from]);
    });
    const double middle = values[*(from + (to - from) / 2)];
    for (; from != to; ++from) values[*from] = middle;
  }
}

} // namespace

bool same_value(double a, double b, double resolution) {
  return std::abs(a - b) <= resolution * std::max(std::abs(a), std::abs(b));
}

std::vector<double> without_rounding(std::vector<double> a, const std::vector<double>& b, double resolution) {
  for (double& x : a)
    if (const auto y = std::ranges::find_if(b, [&](double y) { return same_value(x, y, resolution); }); y != b.end())
      x = *y;
  return a;
}

bool any_censored(const std::vector<double>& values, const ComparisonRequest& request) {
  return request.censored_at && std::ranges::count(values, *request.censored_at) > 0;
}

SeedPlaces::SeedPlaces(const SeedValues& of) {
  for (std::size_t i = 0; i < of.seeds.size(); ++i) places_.emplace_back(of.seeds[i], i);
  std::ranges::sort(places_);
}

std::optional<std::size_t> SeedPlaces::of(std::int64_t seed) const {
  const auto found = std::ranges::lower_bound(places_, seed, {}, &std::pair<std::int64_t, std::size_t>::first);
  return found == places_.end() || found->first != seed ? std::nullopt : std::optional(found->second);
}

Pairs pair_up(const SeedValues& arm, const SeedValues& reference, const SeedPlaces& places,
              const ComparisonRequest& request) {
  poll_caller();
  Pairs pairs;
  std::vector<double> rounding; // of each pair
  const auto same = [&](double a, double b) {
    return same_value(a, b, request.resolution) || std::abs(a - b) <= request.rounding;
  };
  for (std::size_t i = 0; i < arm.seeds.size(); ++i) {
    const std::optional<std::size_t> other = places.of(arm.seeds[i]);
    if (!other) continue;
    pairs.seeds.push_back(arm.seeds[i]);
    const double a = arm.values[i], b = reference.values[*other];
    pairs.rounded = pairs.rounded || (a != b && same(a, b));
    pairs.arm.push_back(same(a, b) ? b : a);
    pairs.reference.push_back(b);
    pairs.differences.push_back(pairs.arm.back() - b);
    rounding.push_back(std::max(request.resolution * std::max(std::abs(a), std::abs(b)), request.rounding));
  }
  const double margin = request.margin.value_or(0);
  settle(pairs.differences, rounding, {0, margin, -margin});
  settle(pairs.arm, rounding, {});
  settle(pairs.reference, rounding, {});
  pairs.censored = any_censored(pairs.arm, request) || any_censored(pairs.reference, request);
  pairs.tested = pairs.differences;
  if (pairs.censored) {
    std::vector<double> ranks = pairs.arm, of_reference = pairs.reference;
    rank_together(ranks, of_reference);
    for (std::size_t i = 0; i < ranks.size(); ++i) pairs.tested[i] = ranks[i] - of_reference[i];
  }
  return pairs;
}

} // namespace heed::statistics
