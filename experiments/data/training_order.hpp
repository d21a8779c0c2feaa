// The order in which training goes through data that has an end: epoch after epoch, each in an order of its own.
#pragma once

#include "autograd/rng.hpp"

#include <cstdint>
#include <vector>

namespace heed {

/// Where a random permutation of 0 ... n - 1 puts i, n > 0: a function of the key and i, so that any thread can ask for
/// any i. A Feistel network of six rounds, with Philox as the round function, permutes the numbers of an even count of
/// bits, and is walked until it comes to one below n (Black and Rogaway 2002, "Ciphers with arbitrary finite domains").
std::uint64_t permuted(const RandomKey& key, std::uint64_t i, std::uint64_t n);

/// Which example stands in which row of which training step. The steps go through the examples again and again, each
/// epoch permuted anew by (seed, epoch), and a batch may hold the end of one epoch and the beginning of the next.
///
/// With a `pool` above 1, the batches of that many steps in a row are gathered, as far as an epoch goes, sorted by
/// length, cut into batches again and put into a random order: rows of a step are then of like lengths, and every example
/// comes once in an epoch. What an epoch leaves of a batch at its two ends is a random piece of the sorted examples.
/// (Khomenko et al. 2017, arXiv 1708.05604, compare ways to do so.)
class TrainingOrder {
public:
  /// `lengths`: of each example, whatever the cost of a row follows; only looked at where pool > 1.
  TrainingOrder(std::vector<std::int32_t> lengths, std::int64_t batch, std::int64_t pool);

  /// The example of row `row` < batch of step `step`: a function of these and the seed.
  std::int64_t example(std::uint64_t seed, std::int64_t step, std::int64_t row) const;

  std::int64_t size() const { return static_cast<std::int64_t>(lengths_.size()); }

private:
  /// Turns of one epoch that are sorted together.
  struct Pool {
    std::uint64_t begin, end;
  };
  Pool pool_of(std::uint64_t turn) const;
  std::int64_t in_turn(std::uint64_t seed, std::uint64_t turn) const;

  std::vector<std::int32_t> lengths_;
  std::uint64_t batch_, pool_, id_;
};

/// Batches of as many rows of like lengths as fit into a number of tokens, counted with padding: rows times the
/// longest, as fairseq's max_tokens (Ott et al. 2019, arXiv 1904.01038). The examples are sorted by length, those of one
/// length in an order of the seed's, and cut into batches from the shortest on. Each epoch goes through all batches
/// once, in an order of its own.
class TokenBatches {
public:
  /// `lengths`: of each example. `tokens` must be no less than the longest.
  TokenBatches(std::vector<std::int32_t> lengths, std::int64_t tokens);

  /// The rows of step `step`, and the example of row `row`: functions of these and the seed.
  std::int64_t rows(std::uint64_t seed, std::int64_t step) const;
  std::int64_t example(std::uint64_t seed, std::int64_t step, std::int64_t row) const;

private:
  std::uint64_t batch_of(std::uint64_t seed, std::int64_t step) const;

  std::vector<std::int32_t> lengths_;
  std::vector<std::uint32_t> begins_; // of each batch among the sorted examples, and where the last ends
  std::uint64_t id_;
};

} // namespace heed
