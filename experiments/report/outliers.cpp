#include "experiments/report/outliers.hpp"

#include "experiments/statistics/spreads.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace heed {

std::vector<bool> outlying(const std::vector<double>& values) {
  constexpr double factor = 100;
  std::vector<bool> far(values.size(), false);
  std::vector<double> finite, distances;
  for (const double value : values)
    if (std::isfinite(value)) finite.push_back(value);
  for (std::size_t i = 0; i < far.size(); ++i) far[i] = !std::isfinite(values[i]);
  if (finite.size() < 3) return far;
  const double middle = statistics::median(finite);
  for (const double value : finite) distances.push_back(std::abs(value - middle));
  const double scale = std::max(statistics::median(distances), 0.02 * std::abs(middle));
  const auto outlies = [&](double value) { return !(std::abs(value - middle) <= factor * scale); };
  if (scale > 0 && 3 * std::ranges::count_if(values, outlies) <= std::ssize(values))
    for (std::size_t i = 0; i < far.size(); ++i) far[i] = outlies(values[i]);
  return far;
}

} // namespace heed
