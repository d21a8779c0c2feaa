// Descriptive statistics: of an arm's values over its seeds (mean, spread, two modes, proportions), and of the
// differences of two arms that are paired by seed (mean, interval, effect sizes, ranks).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// The arithmetic mean. Throws heed::Failed without values.
double mean(std::span<const double> values);

/// The sample standard deviation, sqrt(sum (x - mean)^2 / (n - 1)); empty for fewer than two values.
std::optional<double> standard_deviation(std::span<const double> values);

/// The mean of the middle half of the sorted values: a quarter of the total weight is cut from each end, and a value at
/// the cut counts with its remaining fraction. For n divisible by 4 this equals SciPy's trim_mean(x, 0.25), which cuts
/// only whole values. Throws heed::Failed without values. Agarwal et al. 2021, arXiv 2108.13264.
double interquartile_mean(std::span<const double> values);
/// `interquartile_mean` of values that are sorted in increasing order.
double interquartile_mean_of_sorted(std::span<const double> sorted);

/// The largest absolute value; 0 without values.
double largest_size(std::span<const double> values);
/// The largest power of two that is at most the largest absolute value; 1 if all values are 0. Values that are divided
/// by it lose no bit.
double scale_of(std::span<const double> values);

struct Interval {
  double low = 0, high = 0;
};

/// Throws heed::Failed unless the confidence lies between 0 and 1.
void check_confidence(double confidence);

/// The mean of `a[i] - b[i]` with its spread and interval.
struct PairedDifference {
  std::size_t pairs = 0;
  double mean = 0;
  std::optional<double> standard_deviation; ///< of the differences; none for one pair
  std::optional<Interval> interval;         ///< Student's t for paired samples; none for one pair
  double confidence = 0.95;                 ///< of the interval
};

/// mean(d) -+ t(n - 1, (1 + confidence) / 2) * sd(d) / sqrt(n), d = a - b. One pair gives no interval, because its
/// spread is unknown. Throws heed::Failed for empty samples and for samples of unequal lengths.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b, double confidence = 0.95);

/// Pearson's correlation of a and b. It determines how much noise pairing removes: the variance of the difference is
/// var a + var b - 2 r sd a sd b. Empty for fewer than 3 pairs, or if a or b does not vary. Throws heed::Failed for
/// samples of unequal lengths.
std::optional<double> pair_correlation(std::span<const double> a, std::span<const double> b);

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

/// count / n with the Clopper-Pearson interval (1934, doi 10.1093/biomet/26.4.404), whose coverage is at least the
/// confidence. `count` may be a half-integer. Throws heed::Failed for n = 0, for a count above n, and for a confidence
/// outside (0, 1).
Estimate share_of(double count, std::size_t n, double confidence = 0.95);

/// The upper bound of the proportion of an outcome that none of n had: 1 - (1 - confidence)^(1 / n), the one-sided
/// Clopper-Pearson bound. Throws heed::Failed for n = 0 and for a confidence outside (0, 1).
double largest_share_of_none(std::size_t n, double confidence = 0.95);

/// Fisher's exact test of two proportions, a of n and b of m, two-sided: the total probability of all tables with the
/// same margins that are at most as probable as this table (Fisher 1922, doi 10.2307/2340521). Throws heed::Failed for
/// a > n or b > m.
double fisher_exact(std::size_t a, std::size_t n, std::size_t b, std::size_t m);

/// The middle of the gap between two modes. Empty if there is one mode, or with fewer than 6 values. There are two
/// modes if the widest gap between neighbouring values is at least three times as wide as the range of the values on
/// either side of it. False positives for normal samples: 2.2 % with 6 values, 0.3 % with 8, 0.01 % with 10.
std::optional<double> gap_between_modes(std::span<const double> values);

/// Replaces the values of two samples by their ranks among all values of both, beginning with 1. Equal values share
/// their mean rank. Values may be infinite.
void rank_together(std::vector<double>& a, std::vector<double>& b);

} // namespace heed::statistics
