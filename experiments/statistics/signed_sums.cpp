#include "experiments/statistics/signed_sums.hpp"

#include "autograd/rng.hpp"
#include "experiments/statistics/flips.hpp"

#include <array>
#include <bit>

namespace heed::statistics {

namespace {

constexpr std::uint64_t flip_seed = 0x6865'6564'666c'6970; // for every sample of flips; its value is arbitrary

void add(const SeedRows& rows, std::size_t seed, bool flipped, const double* from, double* to) {
  const double* row = rows.values.data() + seed * rows.columns;
  for (std::size_t i = 0; i < rows.columns; ++i) to[i] = flipped ? from[i] - row[i] : from[i] + row[i];
}

/// `sums[s]`: the sums over the seeds up to s.
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

/// This number of sampled flips is summed at once, each in the order of the seeds. So a flip's result does not depend
/// on the other flips, additions run in parallel in the processor, and signs need no branches.
constexpr std::size_t together = 16;
using SumsTogether = std::vector<std::array<double, together>>; // by column, then by flip

/// Sums flips `first` to `first + together`, exclusive; flip 0 is the observed data.
void add_sampled(const SeedRows& rows, std::uint64_t first, SumsTogether& sums) {
  for (auto& column : sums) column.fill(0.0);
  constexpr std::size_t bits_of_word = 32, bits_of_block = 128;
  std::array<RandomBlock, together> blocks{};
  std::array<std::uint32_t, together> words{};
  std::array<std::uint64_t, together> signs{};
  for (std::size_t s = 0; s < rows.seeds; ++s) {
    if (s % bits_of_block == 0)
      for (std::size_t i = 0; i < together; ++i)
        if (first + i > 0) blocks[i] = random_block({flip_seed, Stream::sampling, first + i}, s / bits_of_block);
    if (s % bits_of_word == 0)
      for (std::size_t i = 0; i < together; ++i) words[i] = blocks[i][s % bits_of_block / bits_of_word];
    const std::size_t bit = s % bits_of_word;
    for (std::size_t i = 0; i < together; ++i) signs[i] = std::uint64_t{words[i] >> bit & 1U} << 63;
    const double* row = rows.values.data() + s * rows.columns;
    for (std::size_t c = 0; c < rows.columns; ++c) {
      const auto value = std::bit_cast<std::uint64_t>(row[c]);
      std::array<double, together>& column = sums[c];
      for (std::size_t i = 0; i < together; ++i) column[i] += std::bit_cast<double>(value ^ signs[i]);
    }
  }
}

} // namespace

std::uint64_t each_flip(const SeedRows& rows, Flips flips, const std::function<void(const double* sums)>& visit) {
  if (flips == Flips::half) return each_of(rows, false, visit);
  if (flips == Flips::all) return each_of(rows, false, visit) + each_of(rows, true, visit);
  static_assert((random_flips + 1) % together == 0);
  std::vector<double> sums(rows.columns);
  SumsTogether several(rows.columns);
  for (std::uint64_t first = 0; first <= random_flips; first += together) {
    add_sampled(rows, first, several);
    for (std::size_t flip = 0; flip < together; ++flip) {
      for (std::size_t i = 0; i < rows.columns; ++i) sums[i] = several[i][flip];
      visit(sums.data());
    }
  }
  return random_flips + 1;
}

} // namespace heed::statistics
