#include "experiments/data/training_order.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

namespace heed {

namespace {

/// The place of a pool's batches among all random numbers of its stream: beyond any epoch's.
constexpr std::uint64_t first_pool_step = std::uint64_t{1} << 40;

/// The pool that a thread has looked at last. Its steps come one after another, so that one is enough.
struct SortedPool {
  std::uint64_t order = 0, seed = 0, number = 0; // order 0: none yet
  std::vector<std::uint64_t> entries;            // length << 32 | turn within the pool, ascending
};

/// All examples as a thread has sorted them last.
struct SortedExamples {
  struct Entry {
    std::int32_t length;
    std::uint32_t example;
  };
  std::uint64_t order = 0, seed = 0; // order 0: none yet
  std::vector<Entry> entries;
};

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

} // namespace

std::uint64_t permuted(const RandomKey& key, std::uint64_t i, std::uint64_t n) {
  const int half = std::max(1, (static_cast<int>(std::bit_width(n - 1)) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = i >> half, right = i & mask;
    for (std::uint64_t round = 0; round < 6; ++round)
      left = std::exchange(right, left ^ (first_64_bits(random_block(key, round << 48 | right)) & mask));
    i = left << half | right;
  } while (i >= n);
  return i;
}

TrainingOrder::TrainingOrder(std::vector<std::int32_t> lengths, std::int64_t batch, std::int64_t pool)
    : lengths_(std::move(lengths)), batch_(static_cast<std::uint64_t>(batch)), pool_(static_cast<std::uint64_t>(pool)),
      id_(next_id()) {}

std::int64_t TrainingOrder::in_turn(std::uint64_t seed, std::uint64_t turn) const {
  const std::uint64_t n = lengths_.size();
  return static_cast<std::int64_t>(permuted({seed, Stream::training_rows, turn / n}, turn % n, n));
}

std::int64_t TrainingOrder::example(std::uint64_t seed, std::int64_t step, std::int64_t row) const {
  const auto s = static_cast<std::uint64_t>(step), r = static_cast<std::uint64_t>(row);
  if (pool_ <= 1) return in_turn(seed, s * batch_ + r);
  thread_local SortedPool pool;
  const std::uint64_t number = s / pool_, first = number * pool_ * batch_;
  if (pool.order != id_ || pool.seed != seed || pool.number != number) {
    pool.entries.resize(pool_ * batch_);
    for (std::uint64_t i = 0; i < pool.entries.size(); ++i) {
      const auto length = static_cast<std::uint64_t>(lengths_[static_cast<std::size_t>(in_turn(seed, first + i))]);
      pool.entries[i] = length << 32 | i;
    }
    std::ranges::sort(pool.entries);
    pool.order = id_;
    pool.seed = seed;
    pool.number = number;
  }
  const std::uint64_t batch = permuted({seed, Stream::training_rows, first_pool_step + number}, s % pool_, pool_);
  return in_turn(seed, first + (pool.entries[batch * batch_ + r] & 0xffffffffU));
}

TokenBatches::TokenBatches(std::vector<std::int32_t> lengths, std::int64_t tokens)
    : lengths_(std::move(lengths)), begins_{0}, id_(next_id()) {
  // Where batches begin follows from the lengths alone, whatever the order among those of one length.
  std::vector<std::int32_t> sorted = lengths_;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (const std::size_t before = i - begins_.back();
        before > 0 && static_cast<std::int64_t>(before + 1) * sorted[i] > tokens)
      begins_.push_back(static_cast<std::uint32_t>(i));
  begins_.push_back(static_cast<std::uint32_t>(sorted.size()));
}

std::uint64_t TokenBatches::batch_of(std::uint64_t seed, std::int64_t step) const {
  const std::uint64_t s = static_cast<std::uint64_t>(step), batches = begins_.size() - 1;
  return permuted({seed, Stream::training_rows, s / batches}, s % batches, batches);
}

std::int64_t TokenBatches::rows(std::uint64_t seed, std::int64_t step) const {
  const std::uint64_t batch = batch_of(seed, step);
  return begins_[batch + 1] - begins_[batch];
}

std::int64_t TokenBatches::example(std::uint64_t seed, std::int64_t step, std::int64_t row) const {
  thread_local SortedExamples sorted;
  if (sorted.order != id_ || sorted.seed != seed) {
    sorted.entries.resize(lengths_.size());
    for (std::uint64_t i = 0; i < sorted.entries.size(); ++i) {
      const auto example = permuted({seed, Stream::training_rows, first_pool_step}, i, lengths_.size());
      sorted.entries[i] = {lengths_[example], static_cast<std::uint32_t>(example)};
    }
    std::ranges::stable_sort(sorted.entries, {}, &SortedExamples::Entry::length);
    sorted.order = id_;
    sorted.seed = seed;
  }
  return sorted.entries[begins_[batch_of(seed, step)] + static_cast<std::uint64_t>(row)].example;
}

} // namespace heed
