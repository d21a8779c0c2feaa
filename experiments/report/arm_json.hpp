// An arm of a report as JSON: its runs, comparisons and metrics.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"

#include <boost/json/array.hpp>
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

/// All numbers in full. `side` is that of the difference (verdict.hpp). `texts` has, for people, the other intervals
/// (flips, student, interquartile), correlation, effect_size, improvement, and ends (minus and plus the
/// size of the difference).
/// @param decimals  of the difference
boost::json::object comparison_json(const statistics::Comparison& c, const Metric& metric, int decimals);

/// `sides` are the names of a difference below 0 and of one above 0.
boost::json::object metric_json(const Metric& metric);

/// The difference of an arm and its interval, as tables show them; empty without a comparison.
boost::json::array difference_texts(const ReportArm& arm, const Metric& metric, const Digits& digits);

} // namespace heed
