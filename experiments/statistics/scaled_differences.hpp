// Scaled differences of arms, as used by the sign-flip tests and intervals.
#pragma once

#include "experiments/statistics/flips.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace heed::statistics {

/// t^2 / (1 + t^2), from 0 for t = 0 to 1 for infinite t. t^2 = (n - 1) c / (1 - c), c = sum^2 / (n sum of squares),
/// because flips do not change the squares.
double size_of_t(double n, double squares, double sum);

/// An arm's differences, divided by a power of two: their squares and sums of squares cannot overflow, and no bit is
/// lost.
struct ScaledDifferences {
  double n = 0, scale = 1, sum = 0, squares = 0;
  std::vector<double> values;

  explicit ScaledDifferences(std::span<const double> differences);
};

/// Maps each seed of any arm to its row.
std::map<std::int64_t, std::size_t> rows_of(std::span<const SeedDifferences> arms);

/// Throws heed::Failed for values that are not finite, and for an arm that has no values or not one value for each
/// seed.
void check(std::span<const SeedDifferences> arms);

} // namespace heed::statistics
