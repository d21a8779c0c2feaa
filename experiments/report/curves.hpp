// What an arm measured at several places, its seeds taken together: learning curves, and accuracies by length.
#pragma once

#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The metric after a step, or of a length, over the runs that were evaluated there.
struct BandPoint {
  std::int64_t at = 0;
  std::size_t runs = 0;
  double mean = 0, low = 0, high = 0;       ///< low, high: the lowest and the highest run
  std::optional<double> standard_deviation; ///< none for one run
};

/// In the order of the steps; empty where nothing was evaluated yet.
std::vector<BandPoint> curve_band(const ReportArm& arm);
/// In the order of the lengths; empty where no finished run has this metric by length.
std::vector<BandPoint> length_band(const ReportArm& arm, std::string_view metric);
/// The metrics that some arm has at two lengths at least.
std::vector<std::string> length_metrics(const ReportData& report);
/// Those of [train] evaluate_lengths have the curves' metric first among them, or else the loss; empty where there are
/// none.
std::string metric_at_lengths(const ReportData& report);

} // namespace heed
