#include "experiments/statistics/spreads.hpp"

#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace heed::statistics {

double median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const std::size_t n = sorted.size();
  return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

namespace {

/// The distances, the one of the smallest value first.
std::vector<double> distances_from_median(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  const double middle = median(sorted);
  for (double& x : sorted) x = std::abs(x - middle);
  return sorted;
}

} // namespace

std::vector<double> spread_differences(std::span<const double> a, std::span<const double> b,
                                       std::span<const double> differences) {
  std::vector<double> out(differences.size());
  if (std::ranges::adjacent_find(differences, std::not_equal_to<>()) == differences.end()) return out; // all are equal
  const double mean_a = mean(a), mean_b = mean(b), middle = mean(differences);
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = ((a[i] - mean_a) + (b[i] - mean_b)) * (differences[i] - middle);
  return out;
}

std::optional<double> p_of_equal_spreads(std::span<const double> a, std::span<const double> b) {
  if (std::min(a.size(), b.size()) < 3) return std::nullopt;
  return permutation_levels(distances_from_median(a), distances_from_median(b), false).p;
}

} // namespace heed::statistics
