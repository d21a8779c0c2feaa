// Enumerates sums over seeds under every flip of the seeds' signs, for the sign-flip tests and intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace heed::statistics {

/// A value for each seed and column: `values[seed * columns + column]`.
struct SeedRows {
  std::size_t seeds = 0, columns = 0;
  std::vector<double> values;
};

enum class Flips {
  half,   ///< the flips that do not change the first seed's sign: the others are their mirror images
  all,    ///< 2^seeds
  sampled ///< `random_flips` drawn flips, after the unflipped values
};

/// Calls `visit` with the columns' sums for one flip after the other, beginning with the unflipped values. Returns the
/// number of flips. The flips, also the sampled ones, depend only on the number of seeds. Needs at least one seed.
std::uint64_t each_flip(const SeedRows& rows, Flips flips, const std::function<void(const double* sums)>& visit);

} // namespace heed::statistics
