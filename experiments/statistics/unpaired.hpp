// The difference between two arms whose runs are not paired, and a permutation test of their means, which may have
// different numbers of runs and different spreads.
#pragma once

#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/summary.hpp"

#include <optional>
#include <span>

namespace heed::statistics {

/// mean(a) - mean(b) with Welch's interval, -+ t(f, (1 + confidence) / 2) sqrt(va / n + vb / m), where va and vb are
/// the sample variances and f = (va / n + vb / m)^2 / ((va / n)^2 / (n - 1) + (vb / m)^2 / (m - 1)) (Welch 1947, doi
/// 10.1093/biomet/34.1-2.28). The interval is empty if an arm has one run, or if neither arm varies. `pairs` is 0, and
/// there is no standard deviation of differences. Throws heed::Failed for an empty sample and a confidence outside (0,
/// 1).
PairedDifference unpaired_difference(std::span<const double> a, std::span<const double> b, double confidence = 0.95);

/// Welch's t = (mean(a) - mean(b)) / sqrt(va / n + vb / m) and its degrees of freedom f. Empty if an arm has one run,
/// or if neither arm varies. Throws heed::Failed for an empty sample.
struct WelchT {
  double value = 0, freedom = 0;
};
std::optional<WelchT> welch_t(std::span<const double> a, std::span<const double> b);

/// Hedges' g = J(n + m - 2) (mean(a) - mean(b)) / s, s^2 the pooled variance (Hedges 1981, doi
/// 10.3102/10769986006002107). Empty for fewer than two runs of each arm, and if the values do not vary.
std::optional<double> effect_size_unpaired(std::span<const double> a, std::span<const double> b);

/// The permutation test of Welch's t, t = (mean(a) - mean(b)) / sqrt(va / n + vb / m), with the sample variances va and
/// vb (Janssen 1997, doi 10.1016/S0167-7152(97)00043-6; Chung and Romano 2013, doi 10.1214/13-AOS1090). p is the larger
/// of two: the proportion of assignments with at least this |t|, and the p of Welch's t test.
///
/// With different numbers of runs, a permutation test of the difference itself needs equal spreads: with 4 runs of
/// spread 4 and 8 of spread 1, it finds 19 of 100 differences that are not there. The permutations of t alone find 9,
/// the larger p 6. Its p is still valid for any noise if both arms have the same distribution. The intervals contain
/// the differences that neither test rejects or that only one rejects.
/// Both arms need at least two runs; the values must be finite.
PermutationTest welch_permutation_test(std::span<const double> a, std::span<const double> b, double confidence);

/// Raises the p values to those of Welch's t test, where they are smaller; no change if there is no t.
void raise_to_welch(PermutationLevels& levels, std::span<const double> a, std::span<const double> b);
/// Widens the intervals to contain Welch's, if there are any.
void join_with_welch(PermutationTest& test, std::span<const double> a, std::span<const double> b, double confidence);

/// Only its two p values.
PermutationLevels welch_permutation_levels(std::span<const double> a, std::span<const double> b);

} // namespace heed::statistics
