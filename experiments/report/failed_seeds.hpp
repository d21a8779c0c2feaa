// Seeds that learn and seeds that don't, and runs that fail: what a mean over the others leaves out.
#pragma once

#include "experiments/report/report_data.hpp"

namespace heed {

/// Sets each arm's `learned`. Where the report has no threshold, that between the heaps of the arm's and its reference's
/// values is taken, if one of the two has values on both sides of it, and the gap is wider than the margin and than a
/// twentieth of the way from guessing (or the metric's worst, where that is not known) to the metric's best. No seed that
/// is at chance or worse has learned: then `least_learned` is the threshold.
void count_learned(ReportData& report);

/// Sets `p_failed_worst` and `better_failed_worst`: the test of ranks, of the arm's and the reference's values
/// together, in which a run that failed is below every value (or above, where lower is better). Runs that are left out
/// or not finished are in none.
void rank_failed_runs(ReportData& report);

} // namespace heed
