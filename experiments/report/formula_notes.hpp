// The formulas of arms that are called by a name.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <vector>

namespace heed {

/// "distance penalty: attention.score_mod = s - abs(i - j) / 4", for each arm that changes a formula which its label
/// does not state. An arm of several groups has one note.
std::vector<std::string> formula_notes(const ReportData& report);

} // namespace heed
