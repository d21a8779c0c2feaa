// Equivalence tests: whether an arm differs from its reference by less than a margin.
#pragma once

#include "experiments/statistics/flips.hpp"

#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

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
