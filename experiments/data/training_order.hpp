// The training examples of a finite data set: how many of them are for training, validation and test, and their
// order: epochs, each with its own random order, and batches of examples of similar length.
#pragma once

#include "autograd/rng.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace heed {

/// The image of i under a random permutation of 0 ... n - 1, n > 0. It is a function of the key and i, so any thread
/// can compute it for any i. A Feistel network of six rounds, with Philox as the round function, permutes the numbers
/// with an even number of bits. It is applied repeatedly until the result is below n (Black and Rogaway 2002, "Ciphers
/// with arbitrary finite domains").
std::uint64_t permuted(const RandomKey& key, std::uint64_t i, std::uint64_t n);

/// Determines the example of each sequence of each training step. Training repeats the examples in epochs. Each epoch
/// has its own permutation, given by (seed, epoch). A batch may contain the end of one epoch and the start of the next.
///
/// With `pool` > 1, the batches of `pool` consecutive steps within one epoch are gathered, sorted by length, cut into
/// batches again, and put into a random order. So the sequences of a step have similar lengths, and each example occurs
/// once per epoch. An incomplete batch at the start or end of an epoch is a random piece of the sorted examples.
/// (Khomenko et al. 2017, arXiv 1708.05604, compare such methods.)
class TrainingOrder {
public:
  /// @param lengths  the length of each example, in any unit that determines the cost of a sequence; only used if pool
  ///   > 1
  TrainingOrder(std::vector<std::int32_t> lengths, std::int64_t batch, std::int64_t pool);

  /// The example that is sequence `sequence` < batch of step `step`: a function of these and the seed.
  std::int64_t example(std::uint64_t seed, std::int64_t step, std::int64_t sequence) const;

  std::int64_t size() const { return static_cast<std::int64_t>(lengths_.size()); }

private:
  /// A range of positions within one epoch whose examples are sorted together.
  struct Pool {
    std::uint64_t begin, end;
  };
  Pool pool_of(std::uint64_t turn) const;
  std::int64_t in_turn(std::uint64_t seed, std::uint64_t turn) const;

  std::vector<std::int32_t> lengths_;
  std::uint64_t batch_, pool_, id_;
};

/// Batches with as many sequences of similar length as fit into a number of tokens. Padding counts: the number is
/// sequences times the longest one, like fairseq's max_tokens (Ott et al. 2019, arXiv 1904.01038). The examples are
/// sorted by length (examples of equal length in a random order given by the seed) and cut into batches, starting with
/// the shortest. Each epoch uses every batch once, in its own random order.
class TokenBatches {
public:
  /// @param lengths  the length of each example
  /// @param tokens   must be at least the longest length
  TokenBatches(std::vector<std::int32_t> lengths, std::int64_t tokens);

  /// The number of sequences of step `step`, and the example that is sequence `sequence`: functions of these and the
  /// seed.
  std::int64_t sequences(std::uint64_t seed, std::int64_t step) const;
  std::int64_t example(std::uint64_t seed, std::int64_t step, std::int64_t sequence) const;

private:
  std::uint64_t batch_of(std::uint64_t seed, std::int64_t step) const;

  std::vector<std::int32_t> lengths_;
  std::vector<std::uint32_t> begins_; // the start of each batch in the sorted examples, and the end of the last
  std::uint64_t id_;
};

struct DataOptions;

/// The numbers of the `n` examples of data.path that belong to training, validation and test. A split with a separate
/// file gets none of these examples. The test gets test_rows, or floor(test n) examples. Then either validation gets
/// validation_rows and training gets all other examples, or training gets floor(train n) examples and validation gets
/// all other examples. `with_test`: the test is a part of data.path unless it has a file. Throws heed::Refused if a
/// number of examples or a file leaves none for the split that gets the remaining ones.
std::array<std::uint64_t, 3> split_sizes(const DataOptions& data, std::uint64_t n, bool with_test = true);

} // namespace heed
