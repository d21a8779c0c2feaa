// An arm of a report, with its runs, as JSON.
#pragma once

#include "experiments/report/digits.hpp"
#include "experiments/report/report_data.hpp"

#include <boost/json/object.hpp>
#include <string>
#include <vector>

namespace heed {

/// Numbers in full, and for people:
///   texts                  mean, spread ("± 0.04"), common_mean (with the table's digits), parameters, flops, time,
///                          seconds, time_spread, memory; differences and ratios of time, memory and parameters, and
///                          ratios of the mean, to the arm's reference; unknown ones are missing
///   limit                  "at chance", "at the ceiling" and so on (`place_of`); empty for none
///   seconds_deviation      over the finished runs; null for one
///   runs[].texts           value, seconds
///   curve, by_length, at_lengths: texts    [mean, spread] of each point
/// @param length_metrics  length_metrics(report)
boost::json::object arm_json(const ReportData& report, const ReportArm& arm, const TableDigits& table,
                             const std::vector<std::string>& length_metrics);

} // namespace heed
