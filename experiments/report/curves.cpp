#include "experiments/report/curves.hpp"

#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <map>

namespace heed {

std::vector<BandPoint> curve_band(const ReportArm& arm) {
  std::map<std::int64_t, std::vector<double>> values;
  for (const ReportRun& run : arm.runs)
    for (const CurvePoint& point : run.curve) values[point.step].push_back(point.value);
  std::vector<BandPoint> band;
  for (const auto& [step, at] : values) {
    const auto [low, high] = std::minmax_element(at.begin(), at.end());
    band.push_back({step, at.size(), statistics::mean(at), *low, *high, statistics::standard_deviation(at)});
  }
  return band;
}

} // namespace heed
