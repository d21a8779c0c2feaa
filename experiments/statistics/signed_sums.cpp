#include "experiments/statistics/signed_sums.hpp"

#include "autograd/rng.hpp"
#include "experiments/statistics/flips.hpp"
#include "experiments/system/polling.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

namespace heed::statistics {

namespace {

constexpr std::uint64_t flip_seed = 0x6865'6564'666c'6970; // for every sample of flips; its value is arbitrary

/// Visits the flips of at most `most_exact_seeds` seeds.
class ExactFlips {
public:
  ExactFlips(const SeedRows& rows, const std::function<void(const double*)>& visit)
      : rows_(rows), visit_(visit), of_seed_(rows.seeds(), nullptr), sums_(rows.seeds() * rows.columns()) {
    for (const SeedRows::Row& row : rows.rows()) of_seed_[row.seed] = &row;
  }

  /// @param mirrored  whether the first seed's sign is changed in all of these flips
  std::uint64_t operator()(bool mirrored) {
    const std::vector<double> zeros(rows_.columns(), 0.0);
    add(0, mirrored, zeros.data(), sums_.data());
    flip_from(1);
    return std::uint64_t{1} << (rows_.seeds() - 1);
  }

private:
  void add(std::size_t seed, bool flipped, const double* from, double* to) const {
    const std::size_t columns = rows_.columns();
    const SeedRows::Row* row = of_seed_[seed];
    const double* values = row ? rows_.values_of(*row) : nullptr;
    if (row && row->count == columns) { // the usual case, which the compiler vectorises
      for (std::size_t i = 0; i < columns; ++i) to[i] = flipped ? from[i] - values[i] : from[i] + values[i];
      return;
    }
    std::copy_n(from, columns, to);
    for (std::size_t i = 0; row && i < row->count; ++i) {
      double& sum = to[rows_.columns_of(*row)[i]];
      sum = flipped ? sum - values[i] : sum + values[i];
    }
  }

  /// `sums_[s]`: the sums over the seeds up to s.
  void flip_from(std::size_t seed) {
    const double* before = sums_.data() + (seed - 1) * rows_.columns();
    if (seed == rows_.seeds()) {
      work_.did(4 * rows_.columns());
      return visit_(before);
    }
    double* here = sums_.data() + seed * rows_.columns();
    for (const bool flipped : {false, true}) {
      add(seed, flipped, before, here);
      flip_from(seed + 1);
    }
  }

  const SeedRows& rows_;
  const std::function<void(const double*)>& visit_;
  std::vector<const SeedRows::Row*> of_seed_;
  std::vector<double> sums_;
  PolledWork work_;
};

/// This number of sampled flips is summed at once, each in the order of the seeds. So a flip's result does not depend
/// on the other flips, additions run in parallel in the processor, and signs need no branches.
constexpr std::size_t together = 16;
using SumsTogether = std::vector<std::array<double, together>>; // by column, then by flip

/// Sums flips `first` to `first + together`, exclusive; flip 0 is the observed data.
void add_sampled(const SeedRows& rows, std::uint64_t first, SumsTogether& sums, PolledWork& work) {
  for (auto& column : sums) column.fill(0.0);
  constexpr std::size_t bits_of_word = 32, bits_of_block = 128;
  std::array<RandomBlock, together> blocks{};
  std::array<std::uint32_t, together> words{};
  std::array<std::uint64_t, together> signs{};
  std::size_t block = std::numeric_limits<std::size_t>::max(), word = block; // which ones are drawn
  for (const SeedRows::Row& row : rows.rows()) {
    const std::size_t s = row.seed;
    if (s / bits_of_block != block) {
      block = s / bits_of_block;
      for (std::size_t i = 0; i < together; ++i)
        if (first + i > 0) blocks[i] = random_block({flip_seed, Stream::sampling, first + i}, block);
    }
    if (s / bits_of_word != word) {
      word = s / bits_of_word;
      for (std::size_t i = 0; i < together; ++i) words[i] = blocks[i][s % bits_of_block / bits_of_word];
    }
    const std::size_t bit = s % bits_of_word;
    for (std::size_t i = 0; i < together; ++i) signs[i] = std::uint64_t{words[i] >> bit & 1U} << 63;
    const std::size_t* places = rows.columns_of(row);
    const double* values = rows.values_of(row);
    work.did(together * (1 + row.count));
    for (std::size_t c = 0; c < row.count; ++c) {
      const auto value = std::bit_cast<std::uint64_t>(values[c]);
      std::array<double, together>& column = sums[places[c]];
      for (std::size_t i = 0; i < together; ++i) column[i] += std::bit_cast<double>(value ^ signs[i]);
    }
  }
}

} // namespace

SeedRows::SeedRows(std::size_t seeds, std::size_t columns, std::vector<SeedValue> values)
    : seeds_(seeds), columns_(columns) {
  std::ranges::sort(values, {}, [](const SeedValue& of) { return std::pair(of.seed, of.column); });
  places_.reserve(values.size());
  values_.reserve(values.size());
  for (const SeedValue& of : values) {
    if (rows_.empty() || rows_.back().seed != of.seed) rows_.push_back({of.seed, values_.size(), 0});
    ++rows_.back().count;
    places_.push_back(of.column);
    values_.push_back(of.value);
  }
}

std::uint64_t each_flip(const SeedRows& rows, Flips flips, const std::function<void(const double* sums)>& visit) {
  if (flips != Flips::sampled) {
    ExactFlips exact(rows, visit);
    return exact(false) + (flips == Flips::all ? exact(true) : 0);
  }
  static_assert((random_flips + 1) % together == 0);
  std::vector<double> sums(rows.columns());
  SumsTogether several(rows.columns());
  PolledWork work;
  for (std::uint64_t first = 0; first <= random_flips; first += together) {
    add_sampled(rows, first, several, work);
    for (std::size_t flip = 0; flip < together; ++flip) {
      for (std::size_t i = 0; i < rows.columns(); ++i) sums[i] = several[i][flip];
      visit(sums.data());
      work.did(4 * rows.columns());
    }
  }
  return random_flips + 1;
}

} // namespace heed::statistics
