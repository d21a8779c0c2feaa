// Of a report with one arm: what its runs measured.
#pragma once

#include "experiments/report/report_data.hpp"

#include <optional>
#include <string>
#include <vector>

namespace heed {

/// The last values of a metric over the runs of the arm.
struct Measured {
  Metric metric;
  std::size_t n = 0; ///< number of runs with a value
  std::optional<double> mean, standard_deviation;
  std::string text() const; ///< "0.0123 ± 0.0004"
};

/// The compared metrics first, then all others. Empty for a report with several arms; metrics without a value are
/// omitted.
std::vector<Measured> measured_values(const ReportData& report);

} // namespace heed
