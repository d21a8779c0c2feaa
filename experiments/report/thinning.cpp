#include "experiments/report/thinning.hpp"

#include "experiments/report/curves.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

namespace {

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

Thinning thinning_of(const ReportData& report) {
  std::vector<std::size_t> runs, bands;
  for (const ReportArm& arm : report.arms) {
    bands.push_back(std::max(curve_band(arm).size(), training_band(arm).size()));
    for (const ReportRun& run : arm.runs) runs.push_back(run.curve.size());
  }
  return {least_thinning(runs, most_run_points), least_thinning(bands, most_band_points)};
}

std::string thinning_sentence(const Thinning& thinning) {
  if (!thinning.any()) return "";
  const std::string of_runs = fmt::format("{} evaluation of each run", every_text(thinning.runs)),
                    of_bands = fmt::format("{} evaluation of the means and bands", every_text(thinning.bands));
  const std::string what = thinning.runs == thinning.bands ? fmt::format("{} evaluation", every_text(thinning.runs))
                           : thinning.bands == 1           ? of_runs
                           : thinning.runs == 1            ? of_bands
                                                           : of_runs + ", and " + of_bands;
  return fmt::format("Curves are thinned, since there are very many evaluations: drawn are {}, and the last. All of "
                     "them are in report.json (heed report --format json) and in the runs' metrics.jsonl, and all "
                     "numbers are of all.",
                     what);
}

} // namespace heed
