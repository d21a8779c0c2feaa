// Learning curves of an arm, its seeds taken together.
#pragma once

#include "experiments/report/report_data.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heed {

/// The metric after `step`, over the runs that were evaluated there.
struct BandPoint {
  std::int64_t step = 0;
  std::size_t runs = 0;
  double mean = 0, low = 0, high = 0;            ///< low, high: the lowest and the highest run
  std::optional<double> standard_deviation;      ///< none for one run
};

/// In the order of the steps; empty where nothing was evaluated yet.
std::vector<BandPoint> curve_band(const ReportArm& arm);

} // namespace heed
