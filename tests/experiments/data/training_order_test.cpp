// Tests of the order of training sequences: permutations, epochs that contain every sequence once, and buckets of
// sequences of similar length.
#include "experiments/data/training_order.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace heed;

namespace {

std::vector<std::int64_t> permutation(std::uint64_t seed, std::uint64_t epoch, std::uint64_t n) {
  std::vector<std::int64_t> out;
  for (std::uint64_t i = 0; i < n; ++i)
    out.push_back(static_cast<std::int64_t>(permuted({seed, Stream::test, epoch}, i, n)));
  return out;
}

/// Lengths from 1 to 50, without a pattern that the order could follow.
std::vector<std::int32_t> lengths(std::int64_t n) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < n; ++i)
    out.push_back(static_cast<std::int32_t>(1 + below({5, Stream::test, 0}, static_cast<std::uint64_t>(i), 50)));
  return out;
}

std::vector<std::int64_t> step(const TrainingOrder& order, std::uint64_t seed, std::int64_t step, std::int64_t batch) {
  std::vector<std::int64_t> out;
  for (std::int64_t sequence = 0; sequence < batch; ++sequence) out.push_back(order.example(seed, step, sequence));
  return out;
}

} // namespace

TEST_CASE("each number has one place, whatever the count", "[order]") {
  for (const std::uint64_t n : {1U, 2U, 3U, 4U, 5U, 15U, 16U, 17U, 100U, 1000U, 20910U}) {
    INFO(n);
    std::vector<std::int64_t> all = permutation(0, 0, n);
    std::ranges::sort(all);
    for (std::size_t i = 0; i < n; ++i) REQUIRE(all[i] == static_cast<std::int64_t>(i));
  }
}

TEST_CASE("seeds and epochs have permutations of their own, in which any number may come anywhere", "[order]") {
  std::set<std::vector<std::int64_t>> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch) seen.insert(permutation(seed, epoch, 50));
  CHECK(seen.size() == 100);
  // The position of item 3 of 12 under 6000 keys: each position about 500 times, within 5 standard deviations (107).
  std::map<std::uint64_t, int> places;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++places[permuted({seed, Stream::test, 0}, 3, 12)];
  CHECK(places.size() == 12);
  for (const auto& [place, times] : places) CHECK(std::abs(times - 500) < 107);
}

TEST_CASE("an epoch has every example once, and the next in another order", "[order]") {
  for (const std::int64_t pool : {1, 5}) {
    const TrainingOrder order(lengths(200), 8, pool); // 25 steps an epoch: 5 pools of 5
    std::vector<std::int64_t> first, second;
    for (std::int64_t s = 0; s < 25; ++s) std::ranges::copy(step(order, 3, s, 8), std::back_inserter(first));
    for (std::int64_t s = 25; s < 50; ++s) std::ranges::copy(step(order, 3, s, 8), std::back_inserter(second));
    CHECK(first != second);
    CHECK(std::set(first.begin(), first.end()).size() == 200);
    CHECK(std::set(second.begin(), second.end()).size() == 200);
  }
}

TEST_CASE("where batches do not divide the examples, an epoch goes on within a batch", "[order]") {
  const TrainingOrder order(lengths(10), 4, 1);
  std::vector<std::int64_t> all;
  for (std::int64_t s = 0; s < 5; ++s) std::ranges::copy(step(order, 0, s, 4), std::back_inserter(all));
  CHECK(std::set(all.begin(), all.begin() + 10).size() == 10);
  CHECK(std::set(all.begin() + 10, all.end()).size() == 10);
}

TEST_CASE("every epoch has every example once, whatever the sizes of batches and pools", "[order]") {
  for (const std::int64_t n : {1, 7, 16, 200, 333})
    for (const std::int64_t batch : {1, 8, 16, 50})
      for (const std::int64_t pool : {1, 2, 5, 50, 200}) {
        INFO(n << " examples, batches of " << batch << ", pools of " << pool);
        const TrainingOrder order(lengths(n), batch, pool);
        std::vector<std::int64_t> all;
        for (std::int64_t s = 0; s * batch < 8 * n; ++s)
          std::ranges::copy(step(order, 3, s, batch), std::back_inserter(all));
        for (std::int64_t epoch = 0; epoch < 8; ++epoch) {
          const auto begin = all.begin() + epoch * n;
          REQUIRE(std::set(begin, begin + n).size() == static_cast<std::size_t>(n));
        }
      }
}

TEST_CASE("sequences that a batch leaves to the next epoch are of any length", "[order]") {
  const std::vector<std::int32_t> length = lengths(200);
  const TrainingOrder order(length, 16, 50); // an epoch has 12.5 batches
  std::set<bool> short_ones, first_short;
  for (std::int64_t epoch = 0; epoch < 40; epoch += 2) {
    const std::vector<std::int64_t> shared = step(order, 3, epoch / 2 * 25 + 12, 16); // 8 sequences of each epoch
    const auto is_short = [&](std::int64_t sequence) {
      return length[static_cast<std::size_t>(shared[static_cast<std::size_t>(sequence)])] < 25;
    };
    short_ones.insert(is_short(0));
    first_short.insert(is_short(8));
  }
  CHECK(short_ones.size() == 2);
  CHECK(first_short.size() == 2);
}

TEST_CASE("a pool's batches hold the same examples, sorted by length, in a random order", "[order]") {
  const std::vector<std::int32_t> length = lengths(1000);
  const TrainingOrder plain(length, 10, 1), bucketed(length, 10, 20);
  std::vector<std::int64_t> expected, found, longest;
  double spread = 0, plain_spread = 0;
  for (std::int64_t s = 20; s < 40; ++s) {
    const auto of = [&](const TrainingOrder& order, std::vector<std::int64_t>& all) {
      std::vector<std::int32_t> here;
      for (const std::int64_t example : step(order, 7, s, 10)) {
        all.push_back(example);
        here.push_back(length[static_cast<std::size_t>(example)]);
      }
      longest.push_back(std::ranges::max(here));
      return std::ranges::max(here) - std::ranges::min(here);
    };
    plain_spread += of(plain, expected);
    longest.pop_back();
    spread += of(bucketed, found);
  }
  std::ranges::sort(expected);
  std::ranges::sort(found);
  CHECK(expected == found);
  CHECK(spread / 20 < 5); // 200 lengths from 50 values in 20 batches: batches differ by about 2.5
  CHECK(plain_spread / 20 > 30);
  CHECK_FALSE(std::ranges::is_sorted(longest));
}

TEST_CASE("an example's place depends on seed, step and index alone", "[order]") {
  const TrainingOrder one(lengths(300), 4, 6), other(lengths(300), 4, 6), longer(lengths(301), 4, 6);
  const auto late = step(one, 1, 100, 4);
  (void)step(one, 2, 3, 4);
  (void)step(longer, 1, 100, 4); // another order with the same seed and pool, in the same thread
  CHECK(step(one, 1, 100, 4) == late);
  CHECK(step(other, 1, 100, 4) == late);
  CHECK(step(one, 2, 100, 4) != late);
}

TEST_CASE("batches by tokens hold as many sequences as fit, padding counted, and an epoch every example once",
          "[order]") {
  const std::vector<std::int32_t> length = lengths(1000);
  constexpr std::int64_t room = 120;
  const TokenBatches batches(length, room);
  // The batches by a plain loop over the sorted lengths: their numbers of sequences and their longest sequences.
  std::vector<std::int32_t> sorted = length;
  std::ranges::sort(sorted);
  std::multiset<std::pair<std::int64_t, std::int32_t>> expected;
  for (std::size_t i = 0; i < sorted.size();) {
    std::int64_t sequences = 0;
    while (i < sorted.size() && (sequences + 1) * sorted[i] <= room) ++sequences, ++i;
    expected.insert({sequences, sorted[i - 1]});
  }
  const auto steps = static_cast<std::int64_t>(expected.size());
  std::vector<std::vector<std::int64_t>> epochs;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    std::multiset<std::pair<std::int64_t, std::int32_t>> found;
    std::vector<std::int64_t> all;
    for (std::int64_t s = epoch * steps; s < (epoch + 1) * steps; ++s) {
      std::int32_t longest = 0;
      for (std::int64_t sequence = 0; sequence < batches.sequences(4, s); ++sequence) {
        all.push_back(batches.example(4, s, sequence));
        longest = std::max(longest, length[static_cast<std::size_t>(all.back())]);
      }
      CHECK(batches.sequences(4, s) * longest <= room);
      found.insert({batches.sequences(4, s), longest});
    }
    CHECK(found == expected);
    CHECK(all.size() == 1000);
    CHECK(std::set(all.begin(), all.end()).size() == 1000);
    epochs.push_back(std::move(all));
  }
  CHECK(epochs[0] != epochs[1]);
}

TEST_CASE("batches by tokens are functions of seed and step, whoever asks and in whatever order", "[order]") {
  const std::vector<std::int32_t> length = lengths(300);
  const TokenBatches one(length, 100), other(length, 100), wider(length, 150);
  const auto step_of = [](const TokenBatches& batches, std::uint64_t seed, std::int64_t s) {
    std::vector<std::int64_t> out;
    for (std::int64_t sequence = 0; sequence < batches.sequences(seed, s); ++sequence)
      out.push_back(batches.example(seed, s, sequence));
    return out;
  };
  std::vector<std::vector<std::int64_t>> forwards;
  for (std::int64_t s = 0; s < 60; ++s) forwards.push_back(step_of(one, 1, s));
  for (std::int64_t s = 59; s >= 0; --s) {
    (void)step_of(wider, 1, s);
    (void)step_of(other, 2, s);
    CHECK(step_of(other, 1, s) == forwards[static_cast<std::size_t>(s)]);
  }
  // Another seed gives different batches, not only the same batches in another order.
  std::set<std::set<std::int64_t>> first, second;
  for (std::int64_t s = 0; s < 60; ++s) {
    const auto a = step_of(one, 1, s), b = step_of(one, 2, s);
    first.emplace(a.begin(), a.end());
    second.emplace(b.begin(), b.end());
  }
  CHECK(first != second);
}

TEST_CASE("a sequence as long as the room is a batch by itself", "[order]") {
  const TokenBatches batches({5, 9, 9, 3, 1}, 9); // 1 + 3 fit as 2 sequences of length 3; then 5; 9; 9
  std::multiset<std::int64_t> sequences;
  for (std::int64_t s = 0; s < 4; ++s) sequences.insert(batches.sequences(0, s));
  CHECK(sequences == std::multiset<std::int64_t>{1, 1, 1, 2});
}
