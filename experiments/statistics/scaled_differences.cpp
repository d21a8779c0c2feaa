#include "experiments/statistics/scaled_differences.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed::statistics {

namespace {

/// The largest power of two that is at most the largest absolute value; 1 if all values are 0.
double scale_of(std::span<const double> values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
}

} // namespace

double size_of_t(double n, double squares, double sum) {
  if (n < 2 || !(squares > 0)) return 0;
  const double c = std::min(1.0, sum * sum / (n * squares));
  return (n - 1) * c / ((n - 1) * c + (1 - c));
}

ScaledDifferences::ScaledDifferences(std::span<const double> differences)
    : n(static_cast<double>(differences.size())), scale(scale_of(differences)) {
  for (const double d : differences) {
    values.push_back(d / scale);
    sum += values.back();
    squares += values.back() * values.back();
  }
}

std::map<std::int64_t, std::size_t> rows_of(std::span<const SeedDifferences> arms) {
  std::map<std::int64_t, std::size_t> rows;
  for (const SeedDifferences& arm : arms)
    for (const std::int64_t seed : arm.seeds) rows.emplace(seed, 0);
  for (std::size_t next = 0; auto& [seed, row] : rows) row = next++;
  return rows;
}

void check(std::span<const SeedDifferences> arms) {
  for (const SeedDifferences& arm : arms) {
    if (arm.values.empty() || arm.values.size() != arm.seeds.size())
      throw Failed(fmt::format("[statistics] an arm has {} differences of {} seeds; it needs one for each seed, and "
                               "one at least",
                               arm.values.size(), arm.seeds.size()));
    for (const double d : arm.values)
      if (!std::isfinite(d)) throw Failed(fmt::format("[statistics] a difference is not finite: {}", d));
  }
}

} // namespace heed::statistics
