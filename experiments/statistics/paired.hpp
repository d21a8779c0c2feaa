// Statistics of the differences between two arms whose runs are paired by seed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace heed::statistics {

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

} // namespace heed::statistics
