// Arms' differences as the tests and intervals by flips take them.
#pragma once

#include "experiments/statistics/flips.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace heed::statistics {

/// t^2 / (1 + t^2), from 0 for t = 0 to 1 for an infinite one: t^2 = (n - 1) c / (1 - c), c = sum^2 / (n sum of
/// squares), since flips leave the squares as they are.
double size_of_t(double n, double squares, double sum);

/// An arm's differences, divided by a power of two: they have squares and sums of squares, whatever they are, and lose
/// no bit.
struct ScaledDifferences {
  double n = 0, scale = 1, sum = 0, squares = 0;
  std::vector<double> values;

  explicit ScaledDifferences(std::span<const double> differences);
};

/// The seeds of all arms, each with its row.
std::map<std::int64_t, std::size_t> rows_of(std::span<const SeedDifferences> arms);

/// Throws heed::Failed for numbers that are not finite, and for an arm that has not one for each seed, or none.
void check(std::span<const SeedDifferences> arms);

} // namespace heed::statistics
