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
  std::uint64_t order = 0, seed = 0, number = 0;  // order 0: none yet
  std::vector<std::uint64_t> entries;             // length << 32 | turn within the pool, ascending
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

} // namespace heed
