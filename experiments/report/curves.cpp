#include "experiments/report/curves.hpp"

#include "experiments/metrics/lengths.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <fmt/format.h>
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

/// The number of a curve's points that `thinned` returns.
std::size_t left_of(std::size_t points, std::size_t every) { return points <= 1 ? points : (points - 2) / every + 2; }

std::size_t least_thinning(const std::vector<std::size_t>& curves, std::size_t most) {
  std::size_t longest = 1;
  for (const std::size_t points : curves) longest = std::max(longest, points);
  const auto fits = [&](std::size_t every) {
    std::size_t sum = 0;
    for (const std::size_t points : curves) sum += left_of(points, every);
    return sum <= most;
  };
  std::size_t least = 1;
  for (std::size_t end = longest; least < end;) { // a greater number never leaves more points
    const std::size_t middle = least + (end - least) / 2;
    if (fits(middle)) end = middle;
    else least = middle + 1;
  }
  return least;
}

/// "every 4th", also for numbers such as 21 and 1000.
std::string every_text(std::size_t n) {
  const std::size_t last = n % 10, tens = n % 100 / 10;
  const char* const ending = tens == 1 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  return n == 2 ? "every second" : fmt::format("every {}{}", n, ending);
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

std::size_t thinning_of(const ReportData& report) {
  std::vector<std::size_t> curves;
  for (const ReportArm& arm : report.arms)
    curves.push_back(std::max(curve_band(arm).size(), training_band(arm).size()));
  return least_thinning(curves, most_points);
}

std::string thinning_sentence(std::size_t every) {
  if (every <= 1) return "";
  return fmt::format(
      "Curves are thinned, since there are very many evaluations: drawn are {} evaluation, and the last. "
      "All of them are in report.json (heed report --format json) and in the runs' metrics.jsonl, and "
      "all numbers are of all.",
      every_text(every));
}

} // namespace heed
