// The notes on single arms: the formulas of those that are called by a name, and how they were matched.
#pragma once

#include "experiments/report/report_data.hpp"

#include <string>
#include <utility>
#include <vector>

namespace heed {

/// Names of arms with their formulas: "attention.score_mod = s - slope * (i - j); attention.parameters.slope.per =
/// head", for each arm that changes a formula which its label does not state, with all that the arm changes in the
/// formula's table, such as the normaliser. An arm of several groups is listed once.
std::vector<std::pair<std::string, std::string>> formulas_of_arms(const ReportData& report);

/// "feed-forward of 132 features, 63,040 parameters against the reference's 63,040 (+0.00 %)."
/// @param match  parameters | flops
std::string matching_in_words(const ReportArm& arm, const std::string& match);

} // namespace heed
