// The tables of a report: the main table, with a row for each arm and all its statistics; and a metric by length, with
// a row for each arm and a column for each length.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/report/text_table.hpp"

#include <string>

namespace heed {

/// The arms by the report's metric: the only place that decides on columns, digits and marks.
document::Table arm_table(const ReportData& report);

/// Mean ± standard deviation over the seeds at each length, or at eight lengths spread over all of them.
/// @param metric  one of `length_metrics`
TextTable length_table(const ReportData& report, const std::string& metric);

/// "val_accuracy on sequences of each length of [train] evaluate_lengths: mean ± standard deviation over the seeds."
std::string length_table_caption(const ReportData& report, const std::string& metric);

} // namespace heed
