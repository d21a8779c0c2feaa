// Tables of a metric by length: an arm a row, a length a column.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/report/text_table.hpp"

#include <string>

namespace heed {

/// Mean ± standard deviation over the seeds at each length, or at eight lengths spread over all of them.
/// @param metric  one of `length_metrics`
TextTable length_table(const ReportData& report, const std::string& metric);

/// "val_accuracy on rows of each length of [train] evaluate_lengths: mean ± standard deviation over the seeds."
std::string length_table_caption(const ReportData& report, const std::string& metric);

} // namespace heed
