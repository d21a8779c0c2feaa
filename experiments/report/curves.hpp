// An arm's metric over steps or lengths, aggregated over seeds: learning curves and accuracies by length. The points of
// long curves are thinned, so that a browser opens the report page quickly; no statistic uses thinned curves.
#pragma once

#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// The metric at a step or a length, over the runs that were evaluated there.
struct BandPoint {
  std::int64_t at = 0;
  std::size_t runs = 0;
  double mean = 0, low = 0, high = 0;       ///< minimum and maximum over the runs
  std::optional<double> standard_deviation; ///< empty for one run
};

/// Sorted by step; empty if there was no evaluation yet.
std::vector<BandPoint> curve_band(const ReportArm& arm);
/// Likewise for train_loss.
std::vector<BandPoint> training_band(const ReportArm& arm);
/// Likewise for val_loss, of a report with one arm whose curves are of another metric.
std::vector<BandPoint> validation_band(const ReportArm& arm);
/// Sorted by length; empty if no finished run has this metric by length.
std::vector<BandPoint> length_band(const ReportArm& arm, std::string_view metric);
/// The metrics that some arm has at two or more lengths.
std::vector<std::string> length_metrics(const ReportData& report);
/// The metric to plot over the lengths of [train] evaluate_lengths: the curves' metric if it was measured, otherwise
/// the loss; empty if there are none.
std::string metric_at_lengths(const ReportData& report);

/// The maximum number of points of a metric's curves on a page. Each curve still has its first and its last point.
inline constexpr std::size_t most_points = 15'000;

/// The least n with which the report's curves stay within the limit if each has every n-th point and its last. 1: all.
std::size_t thinning_of(const ReportData& report);

/// A sentence for the page about it; empty if all points are shown.
std::string thinning_sentence(std::size_t every);

/// The points to draw.
template <class Point> std::vector<Point> thinned(std::vector<Point> points, std::size_t every) {
  if (every <= 1 || points.empty()) return points;
  std::vector<Point> out;
  for (std::size_t i = 0; i + 1 < points.size(); i += every) out.push_back(std::move(points[i]));
  out.push_back(std::move(points.back()));
  return out;
}

} // namespace heed
