// Effect sizes: the standardised mean difference (d_z), and the probability that an arm is better than its reference.
#pragma once

#include "experiments/statistics/paired.hpp"

#include <optional>
#include <span>

namespace heed::statistics {

/// A value with its confidence interval, if there is one.
struct Estimate {
  double value = 0;
  std::optional<Interval> interval;
};

/// Hedges' correction factor for the bias of a standardised mean with `freedom` degrees of freedom, in its exact form:
/// J(m) = Gamma(m / 2) / (sqrt(m / 2) Gamma((m - 1) / 2)), m > 1 (Hedges 1981, doi 10.3102/10769986006002107).
double hedges_factor(double freedom);

/// d_z = J(n - 1) mean(d) / sd(d): the mean paired difference in standard deviations of the differences, bias
/// corrected. Empty for fewer than three differences, and if all differences are equal.
std::optional<double> effect_size(std::span<const double> differences);

/// The probability that a new pair has d > 0 (d < 0 if lower is better). The estimate is the proportion of such pairs,
/// ties counted half, with the Clopper-Pearson interval (1934, doi 10.1093/biomet/26.4.404):
///     [Beta^-1((1 - c) / 2; k, n - k + 1), Beta^-1((1 + c) / 2; k + 1, n - k)],  k = number of better pairs.
/// Its coverage is at least c if there are no ties. Throws heed::Failed without a difference.
Estimate probability_of_improvement(std::span<const double> differences, bool higher_is_better,
                                    double confidence = 0.95);

} // namespace heed::statistics
