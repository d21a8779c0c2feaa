// Permutation tests: compare two arms whose runs are not paired, by reassigning the runs to the arms in all ways or in
// a sample of them.
#pragma once

#include "experiments/statistics/summary.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace heed::statistics {

struct PermutationLevels {
  double p = 1; ///< two-sided
  /// One-sided, for a mean difference above 0: the proportion of permutations with at least the observed difference.
  double p_above = 1;
};

struct PermutationTest : PermutationLevels {
  bool exact = true;
  std::uint64_t permutations = 1;   ///< number of permutations, including the observed data
  std::optional<Interval> interval; ///< the differences that are not rejected; empty if an end is infinite
  std::optional<Interval> sides;    ///< likewise by two one-sided tests, each at the level 1 - confidence
};

/// The permutation test of the difference mean(a) - mean(b). Under the null hypothesis, all runs have the same
/// distribution, so every assignment of runs to arms is equally likely. p is the proportion of the (n + m)! / (n! m!)
/// assignments whose |difference| is at least the observed one (Fisher 1935, "The design of experiments"; Pitman 1937,
/// doi 10.2307/2984124), or the p of Welch's t test, whichever is larger: a test of means also needs equal spreads, and
/// permutations alone find too much without them. (For different sizes of at least two, see `welch_permutation_test`.)
/// The interval inverts the test: it contains every theta for which a - theta and b give p > 1 - confidence.
/// Throws heed::Failed for an empty sample, values that are not finite, and a confidence outside (0, 1).
PermutationTest permutation_test(std::span<const double> a, std::span<const double> b, double confidence = 0.95);

/// Only the two p values of `permutation_test`, which take a fraction of its time.
/// @param of_means  whether it is a test of means; otherwise, with equal sizes, only the permutations count
PermutationLevels permutation_levels(std::span<const double> a, std::span<const double> b, bool of_means = true);

/// The smallest two-sided p of n and m runs: the proportion of permutations that equal the observed data or, for n = m,
/// their mirror image.
double smallest_unpaired_p(std::size_t n, std::size_t m);

/// Up to this number of permutations, all are enumerated. For more, `random_permutations` are drawn, and the observed
/// data count as one more.
inline constexpr std::uint64_t most_exact_permutations = 200'000; // ten runs in each of two arms
inline constexpr std::uint64_t random_permutations = 99'999;

/// (n + m)! / (n! m!): the number of ways to assign n of n + m runs to the first arm.
double ways_to_assign(std::size_t n, std::size_t m);

/// Receives the indices of the runs that are assigned to the first arm.
using VisitAssignment = std::function<void(std::span<const std::size_t> first_arm)>;

/// Calls `visit` with each of the ways to assign n of the n + m runs to the first arm; the observed runs of the first
/// arm are 0 to n - 1. The observed assignment comes first.
void enumerate_assignments(std::size_t n, std::size_t m, const VisitAssignment& visit);

/// Likewise with all ways if there are at most `most_exact_permutations`. Otherwise `visit` gets the observed
/// assignment and `random_permutations` random ones, which are always the same. Returns whether these were all ways.
bool visit_assignments(std::size_t n, std::size_t m, const VisitAssignment& visit);

} // namespace heed::statistics
