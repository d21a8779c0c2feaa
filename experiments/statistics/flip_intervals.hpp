// Confidence intervals from sign flips: the set of differences that the flip tests do not reject; and equivalence
// tests: whether an arm differs from its reference by less than a margin.
#pragma once

#include "experiments/statistics/flips.hpp"
#include "experiments/statistics/summary.hpp"

#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// Confidence intervals of each arm's mean difference. An entry is empty if an end is infinite, because there are fewer
/// seeds than the level needs.
struct FlipIntervals {
  std::vector<std::optional<Interval>> alone;    ///< separate interval for each arm
  std::vector<std::optional<Interval>> together; ///< simultaneous intervals: all cover with the given confidence
};

/// Inverts the tests of `step_down_flips` at the level 1 - confidence. `alone` contains every theta for which the flips
/// of d - theta give p above the level. A flip's |t| is at least the data's |t| exactly if theta lies between the mean
/// of the d with a flipped sign and the mean of the other d. So the ends are order statistics of these means over the
/// flips; with six seeds they are the smallest and the largest difference.
///
/// `together` inverts the single-step max-|t| test: a flip also counts for an arm's theta if any other arm's |t| is at
/// least this arm's |t|; the other arms are centred at their means. The variance of their flipped differences counts as
/// at least a fraction of that of the differences, min(1/4, 0.7 (n - 1) / q^2), so that an arm with only two outcomes
/// widens the intervals of the others little. q = Student's quantile at 1 - level / (2 K) with n - 1 degrees of freedom
/// for K arms: the largest |t| of a flip, sqrt((n - 1) / fraction), must lie beyond the |t| that K arms need. The
/// intervals cover all arms' true differences with the given confidence if the noise is symmetric. With few seeds this
/// holds only approximately, because the other arms' true differences are unknown (Westfall and Young 1993,
/// "Resampling-based multiple testing", 2.6).
///
/// An interval contains the mean. It is only the mean if all differences are equal and there are enough seeds. It is
/// exact up to `most_exact_seeds` seeds, and uses a sample of flips for more. The flips are the same as those of the
/// tests.
/// Throws heed::Failed for values that are not finite, for an arm without values, and for a confidence outside (0, 1).
FlipIntervals flip_intervals(std::span<const SeedDifferences> arms, double confidence = 0.95);

/// The joint intervals of the equivalence tests of all arms: each end inverts a one-sided test of the arm at `level`,
/// in which a flip also counts if any other arm's |t| is at least the arm's t (as in `flip_intervals`, `together`). So
/// with few arms all of them cover their true differences with a confidence of about 1 - 2 level, and with many of
/// about 1 - level. Throws as `flip_intervals`.
std::vector<std::optional<Interval>> equivalence_intervals(std::span<const SeedDifferences> arms, double level = 0.05);

/// One-sided lower bounds of each arm's mean difference, and the p values that they invert.
struct LowerBounds {
  std::vector<std::optional<double>> bounds; ///< all hold with the given confidence; empty: no finite bound
  std::vector<double> p; ///< of a mean difference of 0 or less: at most the level if the bound is above 0
};

/// The joint lower bounds of all arms: like `flip_intervals`, `together`, with t in place of |t|. The bound is the
/// least theta that the one-sided test does not reject; a flip counts for theta if the arm's t, or the t of any other
/// arm, centred at its mean, is at least the arm's own t. So five seeds have bounds at 0.05. Throws as
/// `flip_intervals`.
LowerBounds lower_bounds(std::span<const SeedDifferences> arms, double level = 0.05);

/// Two one-sided paired t tests (TOST; Schuirmann 1987, doi 10.1007/BF01068419) of the null hypothesis |mean
/// difference| >= margin. p is the larger of P(T > (mean + margin) / se) and P(T < (mean - margin) / se), se = sd /
/// sqrt(n), T ~ Student(n - 1). A small p shows that the difference lies within -margin .. margin; p <= 0.05 exactly if
/// Student's 90 % interval lies within it. Empty for fewer than two differences. If the differences vary by no more
/// than rounding, Student's t would claim more certainty than n equal values can show. Then p is 2^-n if they lie
/// within the margin, the smallest p of n signs against one side of the margin; otherwise p is 1.
/// Throws heed::Failed for a margin that is not above 0.
std::optional<double> equivalence_p(std::span<const double> differences, double margin);

/// Equivalence by sign flips, corrected over all arms: p of the null hypothesis |mean difference| >= margin. An arm is
/// within the margin if both of its one-sided hypotheses are rejected: that its differences lie around -margin or
/// below, and that they lie around margin or above. All arms' hypotheses are one family of one-sided `step_down_flips`
/// of margin + d and margin - d.
///
/// The probability that any arm beyond the margin gets p <= 0.05 is at most 0.05 if the noise is symmetric. For one arm
/// this also holds if its runs and the reference's have the same distribution except for the mean. (In simulations with
/// five arms at the margin and bimodal outcomes, this probability was at most 0.07.) The smallest p is 2^-n for any
/// number of arms. An arm reaches it if all its differences lie within the margin, and no flip gives another arm a t
/// that is at least as large. So five seeds can reach 5 %.
/// Throws heed::Failed for a margin that is not above 0, for values that are not finite, and for an arm without values.
std::vector<double> equivalence_by_flips(std::span<const SeedDifferences> arms, double margin);

} // namespace heed::statistics
