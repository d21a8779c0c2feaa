// Differences between two arms whose runs are paired by seed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace heed::statistics {

struct Interval {
  double low = 0, high = 0;
};

/// Throws heed::Failed unless it lies between 0 and 1.
void check_confidence(double confidence);

/// The mean of `a[i] - b[i]`, with what is known of its precision.
struct PairedDifference {
  std::size_t pairs = 0;
  double mean = 0;
  std::optional<double> standard_deviation; ///< of the differences; none for one pair
  std::optional<Interval> interval;         ///< Student's t for paired samples; none for one pair
  double confidence = 0.95;                 ///< of the interval
};

/// mean(d) -+ t(n - 1, (1 + confidence) / 2) * sd(d) / sqrt(n), d = a - b. One pair gives no interval, since nothing is
/// known of the spread. Throws heed::Failed for samples that are empty or of unequal lengths.
PairedDifference paired_difference(std::span<const double> a, std::span<const double> b, double confidence = 0.95);

/// Pearson's correlation of a and b, by which pairing takes noise out of their difference: its variance is
/// var a + var b - 2 r sd a sd b. None for fewer than 3 pairs, or where one of the two doesn't vary. Throws heed::Failed for
/// samples of unequal lengths.
std::optional<double> pair_correlation(std::span<const double> a, std::span<const double> b);

} // namespace heed::statistics
