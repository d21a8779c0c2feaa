// Compares results that were made elsewhere: the report of a table. `heed compare` only reads its options and prints.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/results/result_table.hpp"

namespace heed {

/// The report of a table, with the statistics that a sweep of the same numbers has (`compute_statistics`). All
/// renderers take it; ReportData::table tells them that the runs were made elsewhere.
///
/// A run whose last value is not finite, or is missing, has failed. A run that an arm has no row for, although its
/// reference has one with this seed, is left out; so is one that a reference lacks and an arm of its group has. Values
/// whose relative difference is at most that of the precision's rounding are equal, as in a sweep.
/// Throws heed::Refused, which says what was found, what is allowed and the nearest name: for a column, an arm or a
/// reference that is not in the table, a direction that is not known, a single arm, too many missing runs, and for all
/// that `runs_of_rows` and `runs_of_wide_table` refuse. The caller can stop it (PollScope).
ReportData compare_results(const ResultTable& table, const ResultRequest& question);

} // namespace heed
