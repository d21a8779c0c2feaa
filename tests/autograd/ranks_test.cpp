// Tests of communication between the processes of a group, and of their allocation of the work.
#include "autograd/error.hpp"
#include "autograd/ranks.hpp"
#include "tests/autograd/thread_ranks.hpp"
#include "tests/catch.hpp"

#include <bit>

using namespace heed;

TEST_CASE("every job is in one rank's share, in the order of the ranks", "[ranks]") {
  for (int ranks : {1, 2, 4, 8})
    for (int jobs = 0; jobs <= 40; ++jobs)
      for (const auto share : {aligned_share, even_share}) {
        int next = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const auto [first, last] = share(jobs, rank, ranks);
          CHECK(first == next);
          CHECK(last >= first);
          next = last;
        }
        CHECK(next == jobs);
      }
}

TEST_CASE("shares for a tree are aligned powers of two, and no longer than it takes", "[ranks]") {
  for (int ranks : {1, 2, 4, 8})
    for (int jobs = 1; jobs <= 40; ++jobs) {
      const auto [zero, length] = aligned_share(jobs, 0, ranks);
      CHECK(zero == 0);
      if (ranks > 1) CHECK((std::has_single_bit(static_cast<unsigned>(length)) || length == jobs));
      if (length > 1) CHECK(ranks * static_cast<int>(std::bit_ceil(static_cast<unsigned>(length)) / 2) < jobs);
      for (int rank = 1; rank < ranks; ++rank) {
        const auto [first, last] = aligned_share(jobs, rank, ranks);
        if (first < jobs) CHECK(first == rank * length);
        CHECK(last - first <= length);
      }
    }
  CHECK(aligned_share(8, 3, 4) == std::pair(6, 8));
  CHECK(aligned_share(5, 2, 4) == std::pair(4, 5));
  CHECK(aligned_share(5, 3, 4) == std::pair(5, 5));
  CHECK(even_share(9, 7, 8) == std::pair(7, 9));
}

TEST_CASE("what each rank gives, all ranks get in order", "[ranks]") {
  for (int count : {1, 2, 4, 8})
    ThreadRanks::run(count, [&](Ranks& ranks) {
      const std::vector<std::string> all = gather(ranks,
                                                  std::string(static_cast<std::size_t>(ranks.rank()) * 1000, 'x') +
                                                      std::to_string(ranks.rank()));
      if (all.size() != static_cast<std::size_t>(count)) throw Failed("not all");
      for (int rank = 0; rank < count; ++rank)
        if (all[static_cast<std::size_t>(rank)] !=
            std::string(static_cast<std::size_t>(rank) * 1000, 'x') + std::to_string(rank))
          throw Failed("another's");
    });
}

TEST_CASE("values are unpacked as they were packed, and what is missing is told", "[ranks]") {
  const std::string bytes = Packed().add(3).add_text("a text").add(2.5).add_text("").take();
  Unpacked unpacked(bytes);
  CHECK(unpacked.get<int>() == 3);
  CHECK(unpacked.text() == "a text");
  CHECK(unpacked.get<double>() == 2.5);
  CHECK(unpacked.text().empty());
  CHECK_THROWS_AS(unpacked.get<char>(), Failed);
  Unpacked longer("\x7f\0\0\0\0\0\0\0 no such text");
  CHECK_THROWS_AS(longer.text(), Failed);
}
