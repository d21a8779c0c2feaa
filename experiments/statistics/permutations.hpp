// The comparison of two arms whose runs are not paired: permutations of which run is whose.
#pragma once

#include "experiments/statistics/paired.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heed::statistics {

/// Up to so many permutations, all are counted; beyond, `random_permutations` are drawn, and the data as they are count
/// as one more.
inline constexpr std::uint64_t most_exact_permutations = 200'000; // ten runs in each of two arms
inline constexpr std::uint64_t random_permutations = 99'999;

struct PermutationTest {
  double p = 1;       ///< two-sided
  double p_above = 1; ///< of a mean difference above 0: of all permutations those with one no smaller
  bool exact = true;
  std::uint64_t permutations = 1;   ///< how many, the data as they are included
  std::optional<Interval> interval; ///< the differences that are not rejected; none where an end is infinite
  std::optional<Interval> sides;    ///< likewise by two one-sided tests, each of which has the confidence
};

/// The permutation test of the difference mean(a) - mean(b): were the runs' values drawn alike, they could as well have
/// come in any other order. p is the share of the (n + m)! / (n! m!) ways to choose which n runs are a's that have a
/// |difference| no smaller (Fisher 1935, "The design of experiments"; Pitman 1937, doi 10.2307/2984124). It asks for
/// equal distributions; for means alone it is right where a and b are of one size or of one spread. The interval inverts
/// it: it holds every theta for which a - theta and b give p > 1 - confidence.
/// Throws heed::Failed for an empty sample, numbers that are not finite, and a confidence outside (0, 1).
PermutationTest permutation_test(std::span<const double> a, std::span<const double> b, double confidence = 0.95);

/// `permutation_test`'s two p alone, of all permutations, however many: where it is asked for thousands of times.
struct PermutationLevels {
  double p = 1, p_above = 1;
};
PermutationLevels permutation_levels(std::span<const double> a, std::span<const double> b);

/// The level below which n and m runs can't go: the share of the permutations that are the data themselves, and for
/// n = m their mirror image.
double smallest_unpaired_p(std::size_t n, std::size_t m);

} // namespace heed::statistics
