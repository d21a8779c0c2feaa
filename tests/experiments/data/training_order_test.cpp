// The contract of training's order: permutations, epochs that leave nothing out, and buckets of like lengths.
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

/// Lengths 1 to 50, none of a pattern that the order could follow.
std::vector<std::int32_t> lengths(std::int64_t n) {
  std::vector<std::int32_t> out;
  for (std::int64_t i = 0; i < n; ++i)
    out.push_back(static_cast<std::int32_t>(1 + below({5, Stream::test, 0}, static_cast<std::uint64_t>(i), 50)));
  return out;
}

std::vector<std::int64_t> step(const TrainingOrder& order, std::uint64_t seed, std::int64_t step, std::int64_t batch) {
  std::vector<std::int64_t> out;
  for (std::int64_t row = 0; row < batch; ++row) out.push_back(order.example(seed, step, row));
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
  // Where number 3 of 12 goes, over 6000 keys: 500 times to each place, give or take 5 standard deviations (107).
  std::map<std::uint64_t, int> places;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++places[permuted({seed, Stream::test, 0}, 3, 12)];
  CHECK(places.size() == 12);
  for (const auto& [place, times] : places) CHECK(std::abs(times - 500) < 107);
}

TEST_CASE("an epoch has every example once, and the next in another order", "[order]") {
  for (const std::int64_t pool : {1, 5}) {
    const TrainingOrder order(lengths(200), 8, pool);  // 25 steps an epoch: 5 pools of 5
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
  CHECK(spread / 20 < 5);         // 200 lengths out of 50 in 20 batches: about 2.5 apart
  CHECK(plain_spread / 20 > 30);
  CHECK_FALSE(std::ranges::is_sorted(longest));
}

TEST_CASE("an example's place depends on seed, step and row alone", "[order]") {
  const TrainingOrder one(lengths(300), 4, 6), other(lengths(300), 4, 6), longer(lengths(301), 4, 6);
  const auto late = step(one, 1, 100, 4);
  (void)step(one, 2, 3, 4);
  (void)step(longer, 1, 100, 4);  // another order of the same seed and pool, in the same thread
  CHECK(step(one, 1, 100, 4) == late);
  CHECK(step(other, 1, 100, 4) == late);
  CHECK(step(one, 2, 100, 4) != late);
}
