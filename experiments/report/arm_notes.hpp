// The notes on single arms: the formulas of those that are called by a name, how they were matched, what other choices
// of the tuning would have given, outliers, and results that are identical to the reference's in every seed.
#pragma once

#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// Names of arms with their formulas: "attention.score_mod = s - slope * (i - j); attention.parameters.slope.per =
/// head", for each arm that changes a formula which its label does not state, with all that the arm changes in the
/// formula's table, such as the normaliser. An arm of several groups is listed once.
std::vector<std::pair<std::string, std::string>> formulas_of_arms(const ReportData& report);

/// "feed-forward of 132 features, 63,040 parameters against the reference's 63,040 (+0.00 %)."
/// @param match  parameters | flops | state
std::string matching_in_words(const ReportArm& arm, const std::string& match);

/// Fills in ReportArm::p_choices and other_choices. Needs the comparisons.
void count_choices(ReportData& report);

/// Which of these values are outliers: at most a third of them, each more than 100 times as far from the median as the
/// median distance (at least 2 % of the median). Figures on paper have no switch, so only values that are out of all
/// proportion count, such as those of diverged runs. A value that is not finite is an outlier.
std::vector<bool> outlying(const std::vector<double>& values);

/// The text that replaces a difference of 0 in every seed and its interval.
inline std::string_view equal_words(const statistics::Comparison& c) {
  return c.rounded ? "equal but for rounding" : "equal, bit for bit";
}

/// Whether the metric is the same number in all common seeds, exactly or up to rounding.
inline bool equal_in_all_seeds(const statistics::Comparison& c) { return c.equal; }

} // namespace heed
