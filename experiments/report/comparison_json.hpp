// Comparisons and metrics of a report as JSON.
#pragma once

#include "experiments/metrics/metric.hpp"
#include "experiments/report/digits.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/statistics/comparison.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace heed {

/// All numbers in full. `side` is that of the difference (verdict.hpp). `texts` has, for people, the other intervals
/// (flips, student, interquartile, equivalence), correlation, effect_size, improvement, and ends (minus and plus the
/// size of the difference).
/// @param decimals  of the difference
boost::json::object comparison_json(const statistics::Comparison& c, const Metric& metric, int decimals);

/// `sides` are the names of a difference below 0 and of one above 0.
boost::json::object metric_json(const Metric& metric);

/// The difference of an arm and its interval, as tables show them; empty without a comparison.
boost::json::array difference_texts(const ReportArm& arm, const Metric& metric, const Digits& digits);

} // namespace heed
