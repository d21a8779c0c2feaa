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
