// Whether two arms are the same, as far as anybody cares.
#pragma once

#include "experiments/statistics/flips.hpp"

#include <optional>
#include <span>
#include <vector>

namespace heed::statistics {

/// Two one-sided paired t tests (Schuirmann 1987, doi 10.1007/BF01068419): the p of |mean difference| >= margin, the
/// larger of P(T > (mean + margin) / se) and P(T < (mean - margin) / se), se = sd / sqrt(n), T ~ Student(n - 1). A
/// small p says that the difference lies within -margin .. margin; p <= 0.05 exactly where Student's 90 % interval
/// does. None for fewer than two differences. Where they have no spread but rounding's, Student's t would be certain of
/// what n equal numbers can't show: within the margin, p is then 2^-n, the least that n signs against one side of it
/// could give; else 1.
/// Throws heed::Failed for a margin that is not above 0.
std::optional<double> equivalence_p(std::span<const double> differences, double margin);

/// Two one-sided tests of each arm by sign flips, corrected for all arms together: the p of |mean difference| >=
/// margin. An arm is within the margin where both of its hypotheses are rejected, that its differences lie around
/// -margin or below, and around margin or above; all arms' hypotheses are one family of `step_down_flips` on one side,
/// of margin + d and margin - d. The chance that any arm beyond the margin gets p <= 0.05 is at most 0.05 where noise
/// is as likely to go up as down, and of one arm where its runs and the reference's are drawn alike but for their
/// means. (Simulated, with five arms at the margin whose outcomes fall into two heaps, it came to 0.07 at most.) What
/// can be reached is 2^-n, whatever the number of arms: where all differences lie within the margin, and no flip makes
/// another arm as clear. Five seeds can so reach 5 %.
/// Throws heed::Failed for a margin that is not above 0, numbers that are not finite, and an arm without any.
std::vector<double> equivalence_by_flips(std::span<const SeedDifferences> arms, double margin);

} // namespace heed::statistics
