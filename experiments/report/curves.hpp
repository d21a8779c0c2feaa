// An arm's metric over steps or lengths, aggregated over seeds: learning curves and accuracies by length.
#pragma once

#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

} // namespace heed
