#include "experiments/report/curves.hpp"

#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <map>

namespace heed {

namespace {

std::vector<BandPoint> band_of(const std::map<std::int64_t, std::vector<double>>& values) {
  std::vector<BandPoint> band;
  for (const auto& [at, of] : values) {
    const auto [low, high] = std::minmax_element(of.begin(), of.end());
    band.push_back({at, of.size(), statistics::mean(of), *low, *high, statistics::standard_deviation(of)});
  }
  return band;
}

} // namespace

std::vector<BandPoint> curve_band(const ReportArm& arm) {
  std::map<std::int64_t, std::vector<double>> values;
  for (const ReportRun& run : arm.runs)
    for (const CurvePoint& point : run.curve) values[point.step].push_back(point.value);
  return band_of(values);
}

std::vector<BandPoint> length_band(const ReportArm& arm) {
  std::map<std::int64_t, std::vector<double>> values;
  for (const ReportRun& run : arm.runs)
    for (const LengthPoint& point : run.by_length) values[point.length].push_back(point.value);
  return band_of(values);
}

} // namespace heed
