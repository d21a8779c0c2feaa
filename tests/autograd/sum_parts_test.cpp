// The sum over shards uses a fixed tree, so the result is bit-identical for any number of threads.
#include "autograd/optimizer.hpp"
#include "autograd/shards.hpp"
#include "tests/autograd/close.hpp"
#include "tests/autograd/drawn.hpp"
#include "tests/autograd/heap.hpp"
#include "tests/autograd/thread_ranks.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

using Parts = std::vector<std::vector<Real>>;

Parts some_parts(int count, std::int64_t extent) {
  Parts parts;
  for (int i = 0; i < count; ++i) parts.push_back(draw(extent, static_cast<std::uint64_t>(i), {-1, 1000}));
  return parts;
}

double add_up(ThreadPool& workers, Parts& parts) {
  std::vector<Real*> pointers;
  for (auto& part : parts) pointers.push_back(part.data());
  return sum_parts(workers, pointers, static_cast<std::int64_t>(parts[0].size()));
}

} // namespace

TEST_CASE("parts are summed to the same bits by any number of threads", "[shards]") {
  for (int count : {1, 2, 3, 4, 5, 8})
    for (std::int64_t extent : {1, 17, 8192, 8193, 50000}) {
      INFO(count << " parts of " << extent);
      ThreadPool one(1);
      const Parts given = some_parts(count, extent);
      Parts expected = given;
      const double squares = add_up(one, expected);
      for (int threads : {2, 3, 5}) {
        ThreadPool workers(threads);
        Parts parts = given;
        CHECK(add_up(workers, parts) == squares);
        CHECK(parts[0] == expected[0]);
      }
      CHECK(std::sqrt(squares) == global_norm(expected[0].data(), extent));
      std::vector<double> plain(static_cast<std::size_t>(extent));
      for (const auto& part : given)
        for (std::size_t i = 0; i < plain.size(); ++i) plain[i] += static_cast<double>(part[i]);
      CHECK(distance(expected[0], plain) < rounding);
    }
}

TEST_CASE("the tree adds neighbours first", "[shards]") {
  // 1 + big rounds to big. (1 - 1) + (big - big) and 1 + (-big + big) would give different sums.
  const Real big = 1e30f;
  ThreadPool workers(2);
  Parts four = {{1}, {big}, {-big}, {3}};
  add_up(workers, four);
  CHECK(four[0][0] == 0); // (1 + big) + (-big + 3)
  Parts three = {{big}, {-big}, {1}};
  add_up(workers, three);
  CHECK(three[0][0] == 1); // (big - big) + 1
  Parts five = {{1}, {big}, {-big}, {0}, {5}};
  add_up(workers, five);
  CHECK(five[0][0] == 5); // ((1 + big) + (-big + 0)) + 5
}

TEST_CASE("no part and no number sum to nothing", "[shards]") {
  ThreadPool workers(2);
  Parts empty = {{}, {}};
  CHECK(add_up(workers, empty) == 0);
}

TEST_CASE("the sum takes nothing from the heap once it has run", "[shards]") {
  ThreadPool workers(2);
  Parts parts = some_parts(3, 40000);
  std::vector<Real*> pointers;
  for (auto& part : parts) pointers.push_back(part.data());
  sum_parts(workers, pointers, 40000);
  const std::int64_t before = heap_calls();
  sum_parts(workers, pointers, 40000);
  CHECK(heap_calls() == before);
}

TEST_CASE("parts that lie in several processes are summed to the same bits, in each of them", "[shards][ranks]") {
  for (int shards = 1; shards <= 16; ++shards)
    for (std::int64_t extent : {1, 8192, 8193, 50000}) {
      ThreadPool one(1);
      const Parts all = some_parts(shards, extent);
      Parts expected = all;
      const double squares = add_up(one, expected);
      for (int count : {1, 2, 4, 8}) {
        INFO(shards << " parts of " << extent << " in " << count << " processes");
        std::vector<std::vector<Real>> sums(static_cast<std::size_t>(count));
        std::vector<double> norms(static_cast<std::size_t>(count));
        ThreadRanks::run(count, [&](Ranks& ranks) {
          ThreadPool workers(2, &ranks);
          const auto [first, last] = aligned_share(shards, ranks.rank(), count);
          Parts share(all.begin() + first, all.begin() + last);
          std::vector<Real*> own;
          for (auto& part : share) own.push_back(part.data());
          const auto rank = static_cast<std::size_t>(ranks.rank());
          std::vector<Real> without(static_cast<std::size_t>(extent), Real{-1}); // for a process without a part
          norms[rank] = sum_parts_of_process_group(workers, own, without.data(), shards, extent);
          const Real* sum = own.empty() ? without.data() : own[0];
          sums[rank].assign(sum, sum + extent);
        });
        for (int rank = 0; rank < count; ++rank) {
          CHECK(norms[static_cast<std::size_t>(rank)] == squares);
          CHECK(sums[static_cast<std::size_t>(rank)] == expected[0]);
        }
      }
    }
}
