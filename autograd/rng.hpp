// Random numbers that are functions of a key, never of the order of calls: Philox4x32-10 (Salmon, Moraes, Dror and Shaw
// 2011, "Parallel random numbers: as easy as 1, 2, 3"), as Random123 provides it. The same key and position give the
// same bits on any thread, in any precision, and after any interruption.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace heed {

/// What randomness is used for: uses that share a seed and a step stay independent of each other. The numbers are part
/// of every result, so one that is in use never changes.
enum class Stream : std::uint16_t {
  init = 1,              ///< initial weights
  dropout = 2,           ///< masks of dropout
  training_rows = 3,     ///< which examples a training step sees
  evaluation_rows = 4,   ///< the fixed examples of the evaluation splits
  sampling = 5,          ///< tokens drawn from a model
  sweep = 6,             ///< configurations drawn by a sweep
  test = 7,              ///< inputs that tests and benchmarks make up
  random_evaluation = 8, ///< random rows of a split, drawn anew at each evaluation
};

/// One sequence of 2^64 blocks of 128 random bits. Two keys that differ anywhere give unrelated sequences.
struct RandomKey {
  std::uint64_t seed = 0;
  Stream stream = Stream::init;
  std::uint64_t step = 0; ///< optimiser step, parameter number, ...: below 2^48
};

/// The half of a block's counter that is the key's: step (48 bits) and stream (16 bits).
inline std::uint64_t step_and_stream(const RandomKey& key) {
  return (key.step & 0xffff'ffff'ffffULL) | static_cast<std::uint64_t>(key.stream) << 48;
}

/// Four words of 32 random bits.
using RandomBlock = std::array<std::uint32_t, 4>;

/// Block `position` of the key's sequence: Philox4x32-10 under the key {seed}, of the counter
/// {position (64 bits), step (48 bits), stream (16 bits)}, each with its low word first.
RandomBlock random_block(const RandomKey& key, std::uint64_t position);

/// Words 0 and 1 of a block as one number of 64 random bits.
inline std::uint64_t first_64_bits(const RandomBlock& block) {
  return static_cast<std::uint64_t>(block[1]) << 32 | block[0];
}

/// Words 2 and 3 of a block as one number of 64 random bits.
inline std::uint64_t last_64_bits(const RandomBlock& block) {
  return static_cast<std::uint64_t>(block[3]) << 32 | block[2];
}

/// 64 random bits as a multiple of 2^-53 in [0, 1).
inline double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// 32 random bits as a multiple of 2^-24 in [0, 1): exact in float as in double, so that both precisions see the same.
inline float unit_interval(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

/// 64 random bits as a whole number in [0, n), n > 0: the high half of bits * n (Lemire 2019, arXiv 1805.10941, without
/// its rejection: no number is favoured by more than n / 2^64).
inline std::uint64_t scaled_below(std::uint64_t bits, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(bits) * n >> 64);
}

/// Uniform in [0, 1), with 53 bits.
inline double uniform(const RandomKey& key, std::uint64_t position) {
  return unit_interval(first_64_bits(random_block(key, position)));
}

/// Two independent standard normal numbers from one block (Box and Muller 1958): sqrt(-2 ln u) times the cosine and the
/// sine of 2 pi v, with u in (0, 1] and v in [0, 1). The first is at most 8.6 in magnitude, as the second is.
inline std::array<double, 2> normal_pair(const RandomKey& key, std::uint64_t position) {
  const RandomBlock block = random_block(key, position);
  const double u = 1.0 - unit_interval(first_64_bits(block));
  const double angle = 2.0 * std::numbers::pi * unit_interval(last_64_bits(block));
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// A standard normal number, from one block: the first of the pair.
inline double normal(const RandomKey& key, std::uint64_t position) { return normal_pair(key, position)[0]; }

/// A whole number in [0, n), n > 0, from one block.
inline std::uint64_t below(const RandomKey& key, std::uint64_t position, std::uint64_t n) {
  return scaled_below(first_64_bits(random_block(key, position)), n);
}

/// The numbers by which randomness knows the elements of an array, row-major: one after the other from `first` on; or,
/// for a part of a larger array, those of the elements there.
struct Numbering {
  std::uint64_t first = 0;
  std::int64_t rows = 0;                     ///< rows that follow each other before there is a leap; 0: there are none
  std::uint64_t next_row = 0, next_leap = 0; ///< from the start of a row to the next one's, and from leap to leap

  Numbering(std::uint64_t from = 0) : first(from) {}
  Numbering(std::uint64_t from, std::int64_t together, std::uint64_t row, std::uint64_t leap)
      : first(from), rows(together), next_row(row), next_leap(leap) {}

  /// Calls f(i, number of element i, n) for runs of n elements whose numbers follow one another, of `size` elements in
  /// rows of `width`.
  template <class F> void each_run(std::int64_t size, std::int64_t width, F&& f) const {
    if (rows == 0) return f(0, first, size);
    for (std::int64_t i = 0, r = 0; i < size; i += width, ++r)
      f(i, first + static_cast<std::uint64_t>(r / rows) * next_leap + static_cast<std::uint64_t>(r % rows) * next_row,
        width);
  }
};

/// Walks the positions of a key from a given one, for whoever needs several numbers for one thing: example `row` takes
/// `RandomSource(key, row << 32)`, and has 2^32 draws before it meets its neighbour's.
class RandomSource {
public:
  explicit RandomSource(const RandomKey& key, std::uint64_t position = 0) : key_(key), position_(position) {}

  double uniform() { return heed::uniform(key_, position_++); }
  double normal() { return heed::normal(key_, position_++); }
  std::uint64_t below(std::uint64_t n) { return heed::below(key_, position_++, n); }
  std::uint64_t position() const { return position_; }

private:
  RandomKey key_;
  std::uint64_t position_;
};

} // namespace heed
