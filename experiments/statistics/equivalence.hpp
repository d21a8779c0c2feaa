// Whether two arms are the same, as far as anybody cares.
#pragma once

#include <optional>
#include <span>

namespace heed::statistics {

/// Two one-sided paired t tests (Schuirmann 1987, doi 10.1007/BF01068419): the p of |mean difference| >= margin, the
/// larger of P(T > (mean + margin) / se) and P(T < (mean - margin) / se), se = sd / sqrt(n), T ~ Student(n - 1). A
/// small p says that the difference lies within -margin .. margin; p <= 0.05 exactly where Student's 90 % interval
/// does. None for fewer than two differences. Where they have no spread but rounding's, Student's t would be certain of
/// what n equal numbers can't show: within the margin, p is then 2^-n, the least that n signs against one side of it
/// could give; else 1.
/// Throws heed::Failed for a margin that is not above 0.
std::optional<double> equivalence_p(std::span<const double> differences, double margin);

} // namespace heed::statistics
