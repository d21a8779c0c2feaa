// Computes how many seeds learned, and a rank test that includes failed runs. Means over the other runs do not show
// either.
#pragma once

#include "experiments/report/report_data.hpp"

namespace heed {

/// Sets each arm's `learned`. If the report has no threshold, uses the middle of the gap between the modes of the arm's
/// and its reference's values, on two conditions: the arm or the reference has values on both sides of the gap, and the
/// gap is wider than the margin and than a twentieth of the distance from chance (or from the metric's worst value, if
/// chance is unknown) to the metric's best value. A seed at chance or worse has not learned: the threshold is then
/// `least_learned`.
void count_learned(ReportData& report);

/// Sets `p_failed_worst` and `better_failed_worst`: a rank test on the arm's and the reference's values together. A
/// failed run is ranked worse than every value: below all, or above all if lower is better. Runs that are excluded or
/// not finished are not included.
void rank_failed_runs(ReportData& report);

} // namespace heed
