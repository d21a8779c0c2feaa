// How large a difference is: in units of its own spread, and as how often an arm is the better one.
#pragma once

#include "experiments/statistics/paired.hpp"

#include <optional>
#include <span>

namespace heed::statistics {

/// A number with an interval of confidence, where there is one.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval;
};

/// Hedges' factor against the bias of a standardised mean with `freedom` degrees of freedom, in its exact form:
/// J(m) = Gamma(m / 2) / (sqrt(m / 2) Gamma((m - 1) / 2)), m > 1 (Hedges 1981, doi 10.3102/10769986006002107).
double hedges_factor(double freedom);

/// d_z = J(n - 1) mean(d) / sd(d): the paired difference in standard deviations of the differences, bias corrected.
/// None for fewer than three differences, and where they have no spread.
std::optional<double> effect_size(std::span<const double> differences);

/// The probability that a new pair has d > 0 (or d < 0 where lower is better): the share of such pairs, ties counted
/// half, with Clopper and Pearson's interval (1934, doi 10.1093/biomet/26.4.404),
///     [Beta^-1((1 - c) / 2; k, n - k + 1), Beta^-1((1 + c) / 2; k + 1, n - k)],  k the pairs that are better.
/// It covers the truth with probability c at least where there are no ties. Needs a difference (heed::Failed).
Estimate probability_of_improvement(std::span<const double> differences, bool higher_is_better,
                                    double confidence = 0.95);

} // namespace heed::statistics
