#include "experiments/data/training_order.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <fmt/format.h>
#include <utility>

namespace heed {

namespace {

/// The offset of the pools' random numbers in the stream: beyond the number of any epoch.
constexpr std::uint64_t first_pool_step = std::uint64_t{1} << 40;
/// Rounds of permutations count from 0; draws use this number.
constexpr std::uint64_t drawn_round = 7;

/// The pool that a thread used last. A thread uses pools in the order of steps, so caching one is enough.
struct SortedPool {
  std::uint64_t order = 0, seed = 0, begin = 0; // order 0: none yet
  std::vector<std::uint64_t> entries;           // length << 32 | position within the pool, ascending
};

std::uint64_t next_multiple(std::uint64_t x, std::uint64_t of) { return (x + of - 1) / of * of; }

/// All examples, as this thread sorted them last.
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
  return static_cast<std::int64_t>(permuted({seed, Stream::training_sequences, turn / n}, turn % n, n));
}

// Pools start at batch boundaries, except for the first pool of an epoch.
TrainingOrder::Pool TrainingOrder::pool_of(std::uint64_t turn) const {
  const std::uint64_t n = lengths_.size(), epoch = turn / n * n, size = pool_ * batch_,
                      first = next_multiple(epoch, batch_); // the epoch's first complete batch
  const std::uint64_t number = turn < first ? 0 : (turn - first) / size;
  return {number == 0 ? epoch : first + number * size, std::min(first + (number + 1) * size, epoch + n)};
}

std::int64_t TrainingOrder::example(std::uint64_t seed, std::int64_t step, std::int64_t sequence) const {
  const std::uint64_t turn = static_cast<std::uint64_t>(step) * batch_ + static_cast<std::uint64_t>(sequence);
  if (pool_ <= 1) return in_turn(seed, turn);
  const auto [begin, end] = pool_of(turn);
  thread_local SortedPool pool;
  if (pool.order != id_ || pool.seed != seed || pool.begin != begin) {
    pool.entries.resize(end - begin);
    for (std::uint64_t i = 0; i < pool.entries.size(); ++i) {
      const auto length = static_cast<std::uint64_t>(lengths_[static_cast<std::size_t>(in_turn(seed, begin + i))]);
      pool.entries[i] = length << 32 | i;
    }
    std::ranges::sort(pool.entries);
    pool.order = id_;
    pool.seed = seed;
    pool.begin = begin;
  }
  // The positions are the end of a batch, complete batches, and the start of a batch. Each is a contiguous piece of the
  // sorted entries. The two incomplete batches are inserted before randomly chosen complete batches.
  const std::uint64_t head = std::min(next_multiple(begin, batch_), end) - begin, whole = (end - begin - head) / batch_,
                      tail = end - begin - head - whole * batch_;
  const RandomKey key{seed, Stream::training_sequences, first_pool_step + begin};
  const auto drawn = [&](std::uint64_t which) {
    return first_64_bits(random_block(key, drawn_round << 48 | which)) % (whole + 1);
  };
  const std::uint64_t head_before = drawn(0), tail_before = drawn(1), at = turn - begin;
  std::uint64_t place = 0; // index in the sorted entries
  if (at < head) {
    place = head_before * batch_ + (tail_before < head_before ? tail : 0) + at;
  } else if (at - head < whole * batch_) {
    const std::uint64_t piece = permuted(key, (at - head) / batch_, whole);
    place = piece * batch_ + (head_before <= piece ? head : 0) + (tail_before <= piece ? tail : 0) +
            (at - head) % batch_;
  } else {
    place = tail_before * batch_ + (head_before <= tail_before ? head : 0) + (at - head - whole * batch_);
  }
  return in_turn(seed, begin + (pool.entries[place] & 0xffffffffU));
}

TokenBatches::TokenBatches(std::vector<std::int32_t> lengths, std::int64_t tokens)
    : lengths_(std::move(lengths)), begins_{0}, id_(next_id()) {
  // The batch boundaries only depend on the lengths, not on the order of examples of equal length.
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
  return permuted({seed, Stream::training_sequences, s / batches}, s % batches, batches);
}

std::int64_t TokenBatches::sequences(std::uint64_t seed, std::int64_t step) const {
  const std::uint64_t batch = batch_of(seed, step);
  return begins_[batch + 1] - begins_[batch];
}

std::int64_t TokenBatches::example(std::uint64_t seed, std::int64_t step, std::int64_t sequence) const {
  thread_local SortedExamples sorted;
  if (sorted.order != id_ || sorted.seed != seed) {
    sorted.entries.resize(lengths_.size());
    for (std::uint64_t i = 0; i < sorted.entries.size(); ++i) {
      const auto example = permuted({seed, Stream::training_sequences, first_pool_step}, i, lengths_.size());
      sorted.entries[i] = {lengths_[example], static_cast<std::uint32_t>(example)};
    }
    std::ranges::stable_sort(sorted.entries, {}, &SortedExamples::Entry::length);
    sorted.order = id_;
    sorted.seed = seed;
  }
  return sorted.entries[begins_[batch_of(seed, step)] + static_cast<std::uint64_t>(sequence)].example;
}

std::array<std::uint64_t, 3> split_sizes(const DataOptions& data, std::uint64_t n, bool with_test) {
  const auto share = [&](double part) { return static_cast<std::uint64_t>(static_cast<double>(n) * part); };
  const bool own_validation = !data.validation_path.empty(), own_test = !with_test || !data.test_path.empty();
  const auto test_rows = static_cast<std::uint64_t>(data.test_rows);
  const auto validation_rows = static_cast<std::uint64_t>(data.validation_rows);
  const std::uint64_t test = own_test ? 0 : test_rows > 0 ? test_rows : share(data.test);
  const auto refuse = [&](const std::string& what) {
    throw Refused(fmt::format("[data] {} leave{} none of the {} examples of path = \"{}\" for {}; take fewer", what,
                              what.find(" and ") == what.npos ? "s" : "", n, data.path,
                              own_validation || validation_rows > 0 ? "training" : "training or validation"));
  };
  std::string named;
  if (validation_rows > 0) named = fmt::format("validation_rows = {}", data.validation_rows);
  if (!own_test && test_rows > 0) named += fmt::format("{}test_rows = {}", named.empty() ? "" : " and ", test_rows);
  if (own_validation || validation_rows > 0) {
    const std::uint64_t validation = own_validation ? 0 : validation_rows;
    if (validation >= n || test >= n - validation) refuse(named.empty() ? fmt::format("test = {}", data.test) : named);
    return {n - validation - test, validation, test};
  }
  const std::uint64_t train = share(data.train);
  if (test_rows > 0 && (test >= n || train >= n - test)) refuse(fmt::format("train = {} and {}", data.train, named));
  return {train, n - test - std::min(train, n - test), test};
}

} // namespace heed
