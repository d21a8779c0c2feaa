#include "experiments/statistics/flip_intervals.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <map>
#include <utility>

namespace heed::statistics {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// The two largest t^2 / (1 + t^2) of a flip over the arms, negative for a negative t where signs count, and the arm
/// that has the largest.
struct Largest {
  double first = 0, second = 0;
  std::uint32_t arm = 0;

  double without(std::size_t other) const { return arm == other ? second : first; }
  void add(double size, std::size_t of) {
    if (size > first) *this = {size, first, static_cast<std::uint32_t>(of)};
    else second = std::max(second, size);
  }
};

/// Which tests are inverted: of |t| for both ends; of t for each end, in one family of all ends; or of t for the low
/// ends only.
enum class Inverted { two_sided, each_end, low_ends };

/// For each flip in order, the largest statistics of the centred differences: of |t|; or of t, of the flip and of its
/// mirror image.
struct LargestOfFlips {
  std::vector<Largest> of_flip, of_mirror; ///< of_mirror: only of t
  const Largest& mirror(std::size_t flip) const { return of_mirror.empty() ? of_flip[flip] : of_mirror[flip]; }
};

/// The smallest variance that a flip of centred differences counts with, in times of the differences' own. Otherwise a
/// few flips of two-valued differences would have no spread at all, and an infinite t that belongs to no other arm.
double least_variance(double n, std::size_t arms, double level) {
  if (n < 2) return 0.25;
  const double t = student_quantile(n - 1, 1 - level / (2 * static_cast<double>(arms)));
  return std::min(0.25, 0.7 * (n - 1) / (t * t));
}

/// As size_of_t, for a flip of centred differences.
double size_of_centred_t(double n, double squares, double sum, double least) {
  if (n < 2 || !(squares > 0)) return 0;
  const double c = std::min(1.0, sum * sum / (n * squares));
  return (n - 1) * c / ((n - 1) * c + std::max(1 - c, least));
}

/// The differences less their mean. The mean is rounded, so what is no more than rounding is 0.
std::vector<double> centred(const ScaledDifferences& arm) {
  const double largest = largest_size(arm.values);
  std::vector<double> out;
  for (const double x : arm.values) {
    const double value = x - arm.sum / arm.n;
    out.push_back(std::abs(value) <= 1e-12 * largest ? 0 : value);
  }
  return out;
}

/// @param values  the differences, by row of a seed and by arm
LargestOfFlips largest_of(std::span<const ScaledDifferences> arms, const SeedRows& values, Flips flips, double level,
                          Inverted tests) {
  std::vector<double> squares(arms.size(), 0.0), least;
  for (const ScaledDifferences& arm : arms) least.push_back(least_variance(arm.n, arms.size(), level));
  for (const SeedRows::Row& row : values.rows())
    for (std::size_t i = 0; i < row.count; ++i) {
      const double value = values.values_of(row)[i];
      squares[values.columns_of(row)[i]] += value * value;
    }
  LargestOfFlips out;
  const bool signs = tests == Inverted::low_ends;
  constexpr Largest lowest{-1, -1, 0}; // t is negative infinity
  each_flip(values, flips, [&](const double* sums) {
    Largest largest = signs ? lowest : Largest{}, mirror = largest;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      const double size = size_of_centred_t(arms[i].n, squares[i], sums[i], least[i]);
      largest.add(signs && sums[i] < 0 ? -size : size, i);
      if (signs) mirror.add(sums[i] < 0 ? size : -size, i);
    }
    out.of_flip.push_back(largest);
    if (signs) out.of_mirror.push_back(mirror);
  });
  return out;
}

/// The `rank`-th smallest low end.
std::optional<double> end_of(std::vector<double>& lows, std::size_t rank) {
  std::ranges::nth_element(lows, lows.begin() + static_cast<std::ptrdiff_t>(rank - 1));
  return std::isfinite(lows[rank - 1]) ? std::optional(lows[rank - 1]) : std::nullopt;
}

/// The interval from the `rank`-th smallest low end to the `rank`-th largest high end.
std::optional<Interval> between(std::vector<double>& lows, std::vector<double>& highs, std::size_t rank) {
  const auto at = static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(lows.begin(), lows.begin() + at, lows.end());
  std::nth_element(highs.begin(), highs.begin() + at, highs.end(), std::greater<>());
  const Interval out{lows[rank - 1], highs[rank - 1]};
  if (!std::isfinite(out.low) || !std::isfinite(out.high)) return std::nullopt;
  return out;
}

/// This number of arms shares one pass over the flips, because most of the time is spent drawing the signs. More arms
/// would need too much memory.
constexpr std::size_t most_together = 8;

/// The interval ends of one arm: the thetas at which each flip begins to count, with and without the other arms.
class Ends {
public:
  /// @param which  the arm's index
  /// @param tests  two_sided: a flip counts by its |t|; others: each flip and its mirror image count by their t
  Ends(const ScaledDifferences& arm, std::size_t which, Inverted tests)
      : arm_(arm), which_(which), tests_(tests), mean_(arm.sum / arm.n) {
    double spread = 0;
    for (const double value : centred(arm)) spread += value * value;
    error_ = arm.n > 1 ? std::sqrt(spread / (arm.n - 1) / arm.n) : 0;
  }

  /// @param sum    sum of the differences with a flip's signs
  /// @param signs  sum of the signs
  void add(double sum, double signs, const Largest& largest, const Largest& mirror) {
    const double reach = reach_of(largest);
    const bool whole = std::abs(signs) == arm_.n; // all differences keep their signs, or all are negated
    // The means of the differences that the flip negates, and of the others.
    const double turned = whole ? -infinite : (arm_.sum - sum) / (arm_.n - signs),
                 left = whole ? infinite : (arm_.sum + sum) / (arm_.n + signs);
    if (tests_ == Inverted::two_sided) return add(std::min(turned, left), std::max(turned, left), reach);
    if (tests_ == Inverted::low_ends) {
      const bool negated = whole && signs < 0;
      lows_together_.push_back(std::min(negated ? mean_ : turned, mean_ - reach));
      lows_together_.push_back(std::min(negated ? -infinite : whole ? mean_ : left, mean_ - reach_of(mirror)));
      return;
    }
    add(turned, whole ? infinite : turned, reach);
    add(whole ? mean_ : left, whole ? mean_ : left, reach);
  }

  /// Call each function only once: it reorders the ends.
  std::optional<Interval> alone(std::size_t rank) { return unscaled(between(lows_, highs_, rank)); }
  std::optional<Interval> together(std::size_t rank) {
    return unscaled(between(lows_together_, highs_together_, rank));
  }

  /// The low end, which is 0 if it is only rounding.
  std::optional<double> low(std::size_t rank) {
    const auto end = end_of(lows_together_, rank);
    return end ? std::optional(std::abs(*end) <= rounding() ? 0 : *end * arm_.scale) : std::nullopt;
  }
  /// The proportion of flips that count for a mean difference of 0.
  double p_of_zero() const {
    const auto count = std::ranges::count_if(lows_together_, [zero = rounding()](double low) { return low <= zero; });
    return static_cast<double>(count) / static_cast<double>(lows_together_.size());
  }

private:
  double rounding() const { return 1e-12 * largest_size(arm_.values); }

  double reach_of(const Largest& largest) const {
    const double size = largest.without(which_), squared = std::abs(size) / (1 - std::abs(size));
    return error_ > 0 ? std::copysign(error_ * std::sqrt(squared), size) : 0;
  }

  void add(double low, double high, double reach) {
    lows_.push_back(low);
    highs_.push_back(high);
    lows_together_.push_back(std::min(low, mean_ - reach));
    highs_together_.push_back(std::max(high, mean_ + reach));
  }

  std::optional<Interval> unscaled(const std::optional<Interval>& interval) const {
    return interval ? std::optional(Interval{interval->low * arm_.scale, interval->high * arm_.scale}) : std::nullopt;
  }

  const ScaledDifferences& arm_;
  std::size_t which_;
  Inverted tests_;
  double mean_, error_ = 0;
  std::vector<double> lows_, highs_, lows_together_, highs_together_;
};

/// Inverts the tests at `level`, and calls `use` with each arm's ends and the rank that has the level.
void invert(std::span<const SeedDifferences> arms, double level, Inverted tests,
            const std::function<void(std::size_t arm, Ends& ends, std::size_t rank)>& use) {
  check(arms);
  check_confidence(1 - level);
  if (arms.empty()) return;
  std::vector<ScaledDifferences> scaled;
  for (const SeedDifferences& arm : arms) scaled.emplace_back(arm.values);
  const std::map<std::int64_t, std::size_t> rows = rows_of(arms);
  const Flips flips = rows.size() > most_exact_seeds ? Flips::sampled : Flips::half;

  std::vector<SeedValue> values;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const std::vector<double> of_arm = centred(scaled[i]);
    for (std::size_t s = 0; s < of_arm.size(); ++s) values.push_back({rows.at(arms[i].seeds[s]), i, of_arm[s]});
  }
  const SeedRows all_centred(rows.size(), arms.size(), std::move(values));
  const LargestOfFlips largest = largest_of(scaled, all_centred, flips, level, tests);
  // p is above the level if at least this number of flips reaches theta, including the observed data.
  const double count = static_cast<double>(largest.of_flip.size() * (tests == Inverted::two_sided ? 1 : 2));
  const auto rank = static_cast<std::size_t>(std::floor(level * count + 1e-9)) + 1;

  for (std::size_t first = 0; first < arms.size(); first += most_together) {
    std::vector<Ends> ends;
    for (std::size_t i = first; i < std::min(first + most_together, arms.size()); ++i)
      ends.emplace_back(scaled[i], i, tests);
    std::vector<SeedValue> of_each; // two columns for each arm: its difference, and 1 if it has one
    for (std::size_t i = 0; i < ends.size(); ++i)
      for (std::size_t s = 0; s < arms[first + i].seeds.size(); ++s) {
        const std::size_t row = rows.at(arms[first + i].seeds[s]);
        of_each.push_back({row, 2 * i, scaled[first + i].values[s]});
        of_each.push_back({row, 2 * i + 1, 1});
      }
    const SeedRows own(rows.size(), 2 * ends.size(), std::move(of_each));
    std::size_t flip = 0;
    each_flip(own, flips, [&](const double* sums) {
      for (std::size_t i = 0; i < ends.size(); ++i)
        ends[i].add(sums[2 * i], sums[2 * i + 1], largest.of_flip[flip], largest.mirror(flip));
      ++flip;
    });
    for (std::size_t i = 0; i < ends.size(); ++i) use(first + i, ends[i], rank);
  }
}

} // namespace

FlipIntervals flip_intervals(std::span<const SeedDifferences> arms, double confidence) {
  FlipIntervals out{std::vector<std::optional<Interval>>(arms.size()),
                    std::vector<std::optional<Interval>>(arms.size())};
  invert(arms, 1 - confidence, Inverted::two_sided, [&](std::size_t arm, Ends& ends, std::size_t rank) {
    out.alone[arm] = ends.alone(rank);
    out.together[arm] = ends.together(rank);
  });
  return out;
}

std::vector<std::optional<Interval>> equivalence_intervals(std::span<const SeedDifferences> arms, double level) {
  std::vector<std::optional<Interval>> out(arms.size());
  invert(arms, level, Inverted::each_end,
         [&](std::size_t arm, Ends& ends, std::size_t rank) { out[arm] = ends.together(rank); });
  return out;
}

LowerBounds lower_bounds(std::span<const SeedDifferences> arms, double level) {
  LowerBounds out{std::vector<std::optional<double>>(arms.size()), std::vector<double>(arms.size(), 1.0)};
  invert(arms, level, Inverted::low_ends, [&](std::size_t arm, Ends& ends, std::size_t rank) {
    out.p[arm] = ends.p_of_zero();
    out.bounds[arm] = ends.low(rank);
  });
  return out;
}

namespace {

void check_margin(double margin) {
  if (!(margin > 0 && std::isfinite(margin)))
    throw Failed(fmt::format("[statistics] a margin is a number above 0: {}", margin));
}

} // namespace

std::vector<double> equivalence_by_flips(std::span<const SeedDifferences> arms, double margin) {
  check_margin(margin);
  std::vector<SeedDifferences> sides;
  for (const double sign : {1.0, -1.0})
    for (const SeedDifferences& arm : arms) {
      SeedDifferences side{arm.seeds, arm.values};
      for (double& d : side.values) d = margin + sign * d;
      sides.push_back(std::move(side));
    }
  const std::vector<double> p = step_down_flips(sides, Sides::above).p;
  std::vector<double> out(arms.size());
  for (std::size_t i = 0; i < arms.size(); ++i) out[i] = std::max(p[i], p[arms.size() + i]);
  return out;
}

std::optional<double> equivalence_p(std::span<const double> differences, double margin) {
  check_margin(margin);
  if (differences.size() < 2) return std::nullopt;
  const double centre = mean(differences), spread = *standard_deviation(differences);
  constexpr double rounding = 1e-12;
  if (spread <= rounding * std::max(std::abs(centre), margin))
    return std::abs(centre) < margin
               ? std::ldexp(1.0, -static_cast<int>(std::min<std::size_t>(differences.size(), 1000)))
               : 1.0;
  const double n = static_cast<double>(differences.size()), error = spread / std::sqrt(n);
  return std::max(student_above(n - 1, (centre + margin) / error), student_below(n - 1, (centre - margin) / error));
}

} // namespace heed::statistics
