// Sums over seeds under every flip of the seeds' signs: what the tests and the intervals by flips go through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace heed::statistics {

/// A number for each seed and column: `values[seed * columns + column]`.
struct SeedRows {
  std::size_t seeds = 0, columns = 0;
  std::vector<double> values;
};

enum class Flips {
  half,   ///< those that leave the first seed's sign: the others are their mirror images
  all,    ///< 2^seeds
  sampled ///< `random_flips` drawn ones, after the numbers as they are
};

/// Calls `visit` with the columns' sums, one flip after the other; the numbers as they are come first. Returns how many
/// flips that were. Both halves and samples are the same for the same number of seeds. Needs a seed.
std::uint64_t each_flip(const SeedRows& rows, Flips flips, const std::function<void(const double* sums)>& visit);

} // namespace heed::statistics
