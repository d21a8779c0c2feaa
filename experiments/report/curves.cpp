#include "experiments/report/curves.hpp"

#include "experiments/metrics/lengths.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <map>
#include <set>

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

std::vector<BandPoint> band_over_runs(const ReportArm& arm, std::vector<CurvePoint> ReportRun::*curve) {
  std::map<std::int64_t, std::vector<double>> values;
  PolledWork work;
  for (const ReportRun& run : arm.runs) {
    work.did(100 * (run.*curve).size());
    for (const CurvePoint& point : run.*curve) values[point.step].push_back(point.value);
  }
  return band_of(values);
}

} // namespace

std::vector<BandPoint> curve_band(const ReportArm& arm) { return band_over_runs(arm, &ReportRun::curve); }

std::vector<BandPoint> training_band(const ReportArm& arm) { return band_over_runs(arm, &ReportRun::training); }

std::vector<BandPoint> validation_band(const ReportArm& arm) { return band_over_runs(arm, &ReportRun::validation); }

std::vector<BandPoint> length_band(const ReportArm& arm, std::string_view metric) {
  std::map<std::int64_t, std::vector<double>> values;
  for (const ReportRun& run : arm.runs)
    if (const auto points = run.lengths.find(metric); points != run.lengths.end())
      for (const LengthPoint& point : points->second) values[point.length].push_back(point.value);
  return band_of(values);
}

std::vector<std::string> length_metrics(const ReportData& report) {
  std::set<std::string> found;
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs)
      for (const auto& [metric, points] : run.lengths)
        if (points.size() > 1) found.insert(metric);
  return {found.begin(), found.end()};
}

std::string metric_at_lengths(const ReportData& report) {
  const std::vector<std::string> all = length_metrics(report);
  const auto has = [&](const std::string& metric) { return std::ranges::find(all, metric) != all.end(); };
  const std::string own = family_at_lengths(report.curve_metric().name), loss = family_at_lengths("val_loss");
  return has(own) ? own : has(loss) ? loss : "";
}

} // namespace heed
