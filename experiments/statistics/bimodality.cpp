#include "experiments/statistics/bimodality.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace heed::statistics {

namespace {
constexpr std::size_t fewest = 6;
constexpr double wide = 3;
} // namespace

std::optional<double> gap_between_modes(std::span<const double> values) {
  if (values.size() < fewest) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::size_t at = 1; // the first value above the gap
  for (std::size_t i = 2; i < sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] > sorted[at] - sorted[at - 1]) at = i;
  const double gap = sorted[at] - sorted[at - 1],
               sides = std::max(sorted[at - 1] - sorted.front(), sorted.back() - sorted[at]);
  if (!(gap > 0) || gap < wide * sides) return std::nullopt;
  return sorted[at - 1] + gap / 2;
}

} // namespace heed::statistics
