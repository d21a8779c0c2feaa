// A permutation test of means whose two arms may have different numbers of runs and different spreads.
#pragma once

#include "experiments/statistics/permutations.hpp"

#include <span>

namespace heed::statistics {

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

/// Only its two p values.
PermutationLevels welch_permutation_levels(std::span<const double> a, std::span<const double> b);

} // namespace heed::statistics
