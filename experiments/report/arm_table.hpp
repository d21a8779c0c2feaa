// The main table of a report: a row for each arm, with all its statistics.
#pragma once

#include "experiments/report/document.hpp"
#include "experiments/report/report_data.hpp"

namespace heed {

/// The arms by the report's metric: the only place that decides on columns, digits and marks.
document::Table arm_table(const ReportData& report);

} // namespace heed
