// The tables of a report: the main table, with a row for each arm and all its statistics; and a metric by length, with
// a row for each arm and a column for each length. Above them: where the numbers come from, as far as a reader must
// know it before reading them.
#pragma once

#include "experiments/report/curves.hpp"
#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/report/text_table.hpp"

#include <functional>
#include <string>
#include <vector>

namespace heed {

/// The arms by the report's metric: the only place that decides on columns, digits and marks.
document::Table arm_table(const ReportData& report);

/// A row for each arm, with points of its band: at each step or length, or at eight spread over all of them.
TextTable band_table(const ReportData& report, const std::function<std::vector<BandPoint>(const ReportArm&)>& band_of,
                     const std::function<std::string(const BandPoint&)>& cell_of);

/// Mean ± standard deviation over the seeds at each length, or at eight lengths spread over all of them.
/// @param metric  one of `length_metrics`
TextTable length_table(const ReportData& report, const std::string& metric);

/// "val_accuracy on sequences of each length of [train] evaluate_lengths: mean ± standard deviation over the seeds."
std::string length_table_caption(const ReportData& report, const std::string& metric);

/// Sentences that stand at the top of a report in every format but CSV: the runs were made elsewhere; the plan was
/// frozen after some of its runs had finished, with what changed since earlier sweeps; finished runs are gone; runs are
/// left out because their folders were edited, are damaged, or are of another version. Empty for a report without any
/// of these.
std::vector<std::string> provenance_warnings(const ReportData& report);

/// Converts "2026-11-22T10:15:00Z" to "2026-11-22 10:15 UTC".
std::string time_text(const std::string& utc);

} // namespace heed
