// The one place in which the texts of a report lose their control characters.
#pragma once

#include "experiments/report/report_data.hpp"

namespace heed {

/// Makes the texts of a report safe to print (without_controls): names and labels from plans and tables, reasons,
/// machines. compute_statistics calls it first, so no report reaches a renderer without it. Configurations, inputs and
/// tokens stay as they are: programs read them, and the formats that show them escape them.
void show_controls(ReportData& report);

} // namespace heed
