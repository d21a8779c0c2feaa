#include "experiments/statistics/signed_sums.hpp"

#include "autograd/rng.hpp"
#include "experiments/statistics/flips.hpp"

#include <algorithm>

namespace heed::statistics {

namespace {

constexpr std::uint64_t random_seed = 0x6865'6564'666c'6970; // of every sample of flips; nothing depends on its value

void add(const SeedRows& rows, std::size_t seed, bool flipped, const double* from, double* to) {
  const double* row = rows.values.data() + seed * rows.columns;
  for (std::size_t i = 0; i < rows.columns; ++i) to[i] = flipped ? from[i] - row[i] : from[i] + row[i];
}

/// `sums[s]`: of the seeds up to s.
void flip_from(const SeedRows& rows, std::size_t seed, std::vector<double>& sums,
               const std::function<void(const double*)>& visit) {
  const double* before = sums.data() + (seed - 1) * rows.columns;
  if (seed == rows.seeds) return visit(before);
  double* here = sums.data() + seed * rows.columns;
  for (const bool flipped : {false, true}) {
    add(rows, seed, flipped, before, here);
    flip_from(rows, seed + 1, sums, visit);
  }
}

std::uint64_t each_of(const SeedRows& rows, bool mirrored, const std::function<void(const double*)>& visit) {
  std::vector<double> sums(rows.seeds * rows.columns);
  for (std::size_t i = 0; i < rows.columns; ++i) sums[i] = mirrored ? -rows.values[i] : rows.values[i];
  flip_from(rows, 1, sums, visit);
  return std::uint64_t{1} << (rows.seeds - 1);
}

} // namespace

std::uint64_t each_flip(const SeedRows& rows, Flips flips, const std::function<void(const double* sums)>& visit) {
  if (flips == Flips::half) return each_of(rows, false, visit);
  if (flips == Flips::all) return each_of(rows, false, visit) + each_of(rows, true, visit);
  std::vector<double> sums(rows.columns);
  for (std::uint64_t flip = 0; flip <= random_flips; ++flip) {
    std::fill(sums.begin(), sums.end(), 0.0);
    RandomBlock bits{};
    for (std::size_t s = 0; s < rows.seeds; ++s) {
      if (flip > 0 && s % 128 == 0) bits = random_block({random_seed, Stream::sampling, flip}, s / 128);
      add(rows, s, (bits[s % 128 / 32] >> s % 32 & 1U) != 0, sums.data(), sums.data());
    }
    visit(sums.data());
  }
  return random_flips + 1;
}

} // namespace heed::statistics
