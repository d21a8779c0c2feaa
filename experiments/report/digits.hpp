// How many decimals a report's numbers have: as many as their spread bears.
#pragma once

#include "experiments/report/report_data.hpp"

namespace heed {

struct Digits {
  int value = 4;      ///< of the metric
  int difference = 4; ///< of differences from the reference, and their intervals
};

/// By `decimals_for`, from the arms' standard deviations and the halves of the intervals; where there are no intervals,
/// differences have the metric's decimals.
Digits digits_of(const ReportData& report);

} // namespace heed
