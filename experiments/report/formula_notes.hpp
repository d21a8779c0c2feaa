// The formulas of arms that are called by a name.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <vector>

namespace heed {

/// "nearby: attention.score_mod = s - slope * (i - j); attention.parameters.slope.per = head", for each arm that
/// changes a formula which its label does not state. The note has all that the arm changes in the formula's table, such
/// as the normaliser. An arm of several groups has one note.
std::vector<std::string> formula_notes(const ReportData& report);

} // namespace heed
