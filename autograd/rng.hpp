// Counter-based random numbers: each number is a function of a key and a position, and never depends on the order of
// calls. The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2,
// 3"), as in Random123. The same key and position give the same bits on any thread, in any precision, and after any
// interruption.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace heed {

/// The purposes of random numbers. Purposes that share a seed and a step are independent of each other. All results
/// depend on the values of this enum, so a value in use must never change.
enum class Stream : std::uint16_t {
  init = 1,                 ///< initial weights
  dropout = 2,              ///< dropout masks
  training_sequences = 3,   ///< the examples of a training step
  evaluation_sequences = 4, ///< the fixed examples of the evaluation splits
  sampling = 5,             ///< tokens sampled from a model
  sweep = 6,                ///< configurations drawn by a sweep
  test = 7,                 ///< inputs of tests and benchmarks
  random_evaluation = 8,    ///< random examples of a split, drawn again at each evaluation
};

/// The key of one sequence of 2^64 blocks of 128 random bits. Two different keys give unrelated sequences.
struct RandomKey {
  std::uint64_t seed = 0;
  Stream stream = Stream::init;
  std::uint64_t step = 0; ///< optimiser step, parameter index, ...: below 2^48
};

/// The half of a block's counter that comes from the key: step (48 bits) and stream (16 bits).
inline std::uint64_t step_and_stream(const RandomKey& key) {
  return (key.step & 0xffff'ffff'ffffULL) | static_cast<std::uint64_t>(key.stream) << 48;
}

/// Four words of 32 random bits.
using RandomBlock = std::array<std::uint32_t, 4>;

/// Block `position` of the key's sequence: Philox4x32-10 with the key {seed} and the counter {position (64 bits), step
/// (48 bits), stream (16 bits)}, each with its low word first.
RandomBlock random_block(const RandomKey& key, std::uint64_t position);

/// Words 0 and 1 of a block as 64 random bits.
inline std::uint64_t first_64_bits(const RandomBlock& block) {
  return static_cast<std::uint64_t>(block[1]) << 32 | block[0];
}

/// Words 2 and 3 of a block as 64 random bits.
inline std::uint64_t last_64_bits(const RandomBlock& block) {
  return static_cast<std::uint64_t>(block[3]) << 32 | block[2];
}

/// 64 random bits as a multiple of 2^-53 in [0, 1).
inline double unit_interval(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// 32 random bits as a multiple of 2^-24 in [0, 1). The value is exact in float and in double, so both precisions get
/// the same value.
inline float unit_interval(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }

/// 64 random bits as an integer in [0, n), n > 0: the high half of bits * n (Lemire 2019, arXiv 1805.10941, without its
/// rejection step: no integer is favoured by more than n / 2^64).
inline std::uint64_t scaled_below(std::uint64_t bits, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(static_cast<Wide>(bits) * n >> 64);
}

/// A uniform number in [0, 1), with 53 bits.
inline double uniform(const RandomKey& key, std::uint64_t position) {
  return unit_interval(first_64_bits(random_block(key, position)));
}

/// Two independent standard normal numbers from one block (Box and Muller 1958): sqrt(-2 ln u) times the cosine and the
/// sine of 2 pi v, with u in (0, 1] and v in [0, 1). Both are at most 8.6 in magnitude.
inline std::array<double, 2> normal_pair(const RandomKey& key, std::uint64_t position) {
  const RandomBlock block = random_block(key, position);
  const double u = 1.0 - unit_interval(first_64_bits(block));
  const double angle = 2.0 * std::numbers::pi * unit_interval(last_64_bits(block));
  const double radius = std::sqrt(-2.0 * std::log(u));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// A standard normal number: the first of `normal_pair`.
inline double normal(const RandomKey& key, std::uint64_t position) { return normal_pair(key, position)[0]; }

/// An integer in [0, n), n > 0, from one block.
inline std::uint64_t below(const RandomKey& key, std::uint64_t position, std::uint64_t n) {
  return scaled_below(first_64_bits(random_block(key, position)), n);
}

/// The indices that random operations use for the elements of an array, in row-major order. They are consecutive,
/// starting at `first`. For a part of a larger array, they are the indices of its elements in the larger array.
struct Numbering {
  std::uint64_t first = 0;
  /// consecutive rows at a distance of `next_row`; 0: all indices are consecutive
  std::int64_t rows = 0;
  /// index distances: from the start of a row to the start of the next row, and from one group of `rows` rows to the
  /// next
  std::uint64_t next_row = 0, next_leap = 0;

  Numbering(std::uint64_t from = 0) : first(from) {}
  Numbering(std::uint64_t from, std::int64_t together, std::uint64_t row, std::uint64_t leap)
      : first(from), rows(together), next_row(row), next_leap(leap) {}

  /// Calls f(i, index of element i, n) for runs of n elements with consecutive indices, for rows begin .. end - 1 of
  /// an array with rows of `width`.
  template <class F> void each_run(std::int64_t begin, std::int64_t end, std::int64_t width, F&& f) const {
    if (rows == 0) return f(begin * width, first + static_cast<std::uint64_t>(begin * width), (end - begin) * width);
    for (std::int64_t r = begin; r < end; ++r)
      f(r * width,
        first + static_cast<std::uint64_t>(r / rows) * next_leap + static_cast<std::uint64_t>(r % rows) * next_row,
        width);
  }
};

/// Draws successive numbers of a key, starting at a given position, for uses that need several numbers. For example,
/// example `i` uses `RandomSource(key, i << 32)` and has 2^32 draws before it reaches the draws of the next
/// example.
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
