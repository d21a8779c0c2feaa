// A sensitivity analysis for tuned arms: what if the tuning had chosen other settings?
#pragma once

#include "experiments/report/report_data.hpp"

namespace heed {

/// Fills in ReportArm::p_choices and other_choices. Needs the comparisons.
void count_choices(ReportData& report);

} // namespace heed
