#include "experiments/statistics/summary.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace heed::statistics {

double mean(std::span<const double> values) {
  if (values.empty()) throw Failed("[statistics] the mean of no values does not exist");
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

std::optional<double> standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  if (std::ranges::all_of(values, [&](double x) { return x == values.front(); })) return 0; // the mean is rounded
  const double centre = mean(values);
  double squares = 0;
  for (const double x : values) squares += (x - centre) * (x - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double interquartile_mean(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return interquartile_mean_of_sorted(sorted);
}

double interquartile_mean_of_sorted(std::span<const double> sorted) {
  if (sorted.empty()) throw Failed("[statistics] the interquartile mean of no values does not exist");
  // Value i covers [i, i + 1] of the sample's n units; the middle half is [n / 4, 3 n / 4].
  const double n = static_cast<double>(sorted.size());
  double sum = 0;
  for (std::size_t i = sorted.size() / 4; i < sorted.size(); ++i) {
    const double from = std::max(static_cast<double>(i), n / 4), to = std::min(static_cast<double>(i) + 1, 3 * n / 4);
    if (!(to > from)) break;
    sum += (to - from) * sorted[i];
  }
  return sum / (n / 2);
}

} // namespace heed::statistics
