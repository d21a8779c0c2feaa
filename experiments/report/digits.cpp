#include "experiments/report/digits.hpp"

#include "experiments/report/numbers.hpp"

#include <vector>

namespace heed {

Digits digits_of(const ReportData& report) {
  std::vector<double> spreads, halves;
  for (const ReportArm& arm : report.arms) {
    if (arm.standard_deviation) spreads.push_back(*arm.standard_deviation);
    if (!arm.comparison) continue;
    const statistics::Comparison& c = *arm.comparison;
    if (const auto& interval = c.interval ? c.interval : c.difference.interval)
      halves.push_back((interval->high - interval->low) / 2);
  }
  const int decimals = decimals_for(spreads);
  return {decimals, halves.empty() ? decimals : decimals_for(halves)};
}

} // namespace heed
