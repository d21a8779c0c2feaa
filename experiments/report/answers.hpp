// What the sweep found of each arm, in one sentence.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>

namespace heed {

/// "score = additive costs 0.31 nats [0.28, 0.34], n = 6".
std::string answer_sentence(const ReportData& report, const ReportArm& arm);

} // namespace heed
