// Noninferiority: whether arms are not worse than their reference by more than a margin, and bounds of how much worse
// they can be.
#pragma once

#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/flips.hpp"

#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// One-sided tests of each arm, corrected over all arms.
struct NoninferiorityTests {
  std::vector<double> p;        ///< of the null hypothesis that the mean is -margin or less
  std::vector<double> p_better; ///< of the null hypothesis that it is 0 or less; never below p
  std::vector<std::optional<double>>
      p_worse;                              ///< of the null hypothesis that it is -margin or more: a family of its own
  std::vector<std::optional<double>> bound; ///< lower bound of the mean
};

/// Noninferiority by sign flips. With d the differences in the better direction and m the margin, p is that of
/// one-sided `step_down_flips` of m + d over all arms, and p_worse that of -m - d. An arm of margin 0 is only tested
/// for *better*: p_better is p, and it has no bound and no p_worse. The bounds are `lower_bounds` of d. They have a
/// single step, and p steps down, so a bound is moved to -m if they disagree: it is -m or above exactly if p is at most
/// the level.
///
/// The probability that any arm with a mean of -m or less gets p <= level is at most the level if the noise is
/// symmetric (`step_down_flips`). The smallest p is 2^-n for any number of arms, so five seeds can reach 5 %.
/// @param margins  one for each arm
/// Throws heed::Failed for a negative margin, for values that are not finite, and for an arm without values.
NoninferiorityTests noninferiority_by_flips(std::span<const SeedDifferences> arms, std::span<const double> margins,
                                            double level = 0.05);

/// Answers Question::not_worse for comparisons that were made without a margin: sets `noninferiority`, p, the interval,
/// the family and the answer. If paired, by `noninferiority_by_flips` over all arms with at least 5 pairs. Otherwise by
/// one-sided permutation tests (`permutation_levels`) of the arm moved by the margin, with Holm's correction over the
/// arms that can reach the level, and bounds with Bonferroni's. Censored runs: `Noninferiority::only_better`.
/// Throws heed::Failed for a request without a margin.
void ask_not_worse(std::span<const SeedValues> arms, std::span<const std::size_t> reference_of,
                   std::span<const ComparisonRequest> requests, std::vector<std::optional<Comparison>>& compared);

/// p of the null hypothesis that an arm's mean is at most the reference's, of this arm only: by sign flips of the
/// differences by seed, or by permutations. Empty if no seed is common, or an arm has no values.
std::optional<double> one_sided_p(const SeedValues& arm, const SeedValues& reference, Test test);

} // namespace heed::statistics
