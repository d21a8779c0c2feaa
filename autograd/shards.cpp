#include "autograd/shards.hpp"

#include "autograd/error.hpp"
#include "autograd/kernels/simd.hpp"
#include "autograd/squares.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <span>

namespace heed::HEED_REAL {

namespace {

void add_to(Real* to, const Real* from, std::int64_t n) {
  map(n, [&](std::int64_t i, int some) { store(to + i, load(to + i, some) + load(from + i, some), some); });
}

// Sums over parts, as a binary tree: first parts that are neighbours, then neighbouring sums. Sums that are needed only
// in between stay in the first-level cache.
class PartSum {
public:
  explicit PartSum(const std::vector<Real*>& parts) : parts_(parts) {
    if (std::bit_width(parts.size()) > most_levels)
      throw Failed(fmt::format("[sum_parts] {} parts are too many", parts.size()));
  }

  /// parts[0] <- the sum, for the values begin .. begin + n - 1.
  void add(std::int64_t begin, std::int64_t n) const {
    if (parts_.size() < 2) return;
    alignas(64) Real sums[most_levels * piece];
    for (std::int64_t i = begin; i < begin + n; i += piece)
      add_tree(0, parts_.size(), {i, std::min(piece, begin + n - i)}, parts_[0] + i, sums);
  }

private:
  static constexpr int most_levels = 16;
  static constexpr std::int64_t piece = 256;
  struct Values {
    std::int64_t begin, n;
  };

  // to <- the sum of `count` >= 2 parts. `free` has the memory of a piece for each level of the tree.
  void add_tree(std::size_t first, std::size_t count, const Values& values, Real* to, Real* free) const {
    const std::size_t left = std::bit_floor(count - 1), right = count - left;
    if (left > 1) add_tree(first, left, values, to, free);
    if (right > 1) add_tree(first + left, right, values, free, free + piece);
    const Real* a = left > 1 ? to : parts_[first] + values.begin;
    const Real* b = right > 1 ? free : parts_[first + left] + values.begin;
    map(values.n, [&](std::int64_t i, int n) { store(to + i, load(a + i, n) + load(b + i, n), n); });
  }

  const std::vector<Real*>& parts_;
};

// A range of blocks of an array with `extent` values.
struct Blocks {
  int first = 0, last = 0;

  std::int64_t begin() const { return first * sum_block; }
  std::int64_t size(std::int64_t extent) const { return std::min(last * sum_block, extent) - begin(); }
  std::span<Real> of(Real* values, std::int64_t extent) const {
    return {values + begin(), static_cast<std::size_t>(size(extent))};
  }
  std::span<double> squares(double* of_blocks) const {
    return {of_blocks + first, static_cast<std::size_t>(last - first)};
  }
};

// A level of the sum tree that crosses processes: the blocks that this process continues with, and those of its peer.
struct Level {
  int peer = 0;
  Blocks mine, others;
};

// The sums of squares of the blocks. The buffer belongs to the calling thread and is reused; each worker writes to the
// elements of its own blocks.
double* squares_of(std::int64_t extent, std::size_t& blocks) {
  thread_local std::vector<double> squares;
  squares.resize(static_cast<std::size_t>((extent + sum_block - 1) / sum_block));
  blocks = squares.size();
  return squares.data();
}

double added(const double* squares, std::size_t blocks) {
  double total = 0;
  for (std::size_t block = 0; block < blocks; ++block) total += squares[block];
  return total;
}

} // namespace

double sum_parts(ThreadPool& workers, const std::vector<Real*>& parts, std::int64_t extent) {
  std::size_t blocks = 0;
  double* const squares = squares_of(extent, blocks);
  const PartSum sum(parts);
  const auto job = [&, squares](int block, int) {
    const std::int64_t begin = block * sum_block, n = std::min(sum_block, extent - begin);
    sum.add(begin, n);
    squares[block] = sum_of_squares(parts[0] + begin, n);
  };
  workers.run(static_cast<int>(blocks), job);
  return added(squares, blocks);
}

double sum_parts_of_process_group(ThreadPool& workers, const std::vector<Real*>& parts, Real* sum, int shards,
                                  std::int64_t extent) {
  Ranks& ranks = *workers.ranks();
  if (!parts.empty()) sum = parts[0];
  std::size_t count = 0;
  double* const squares = squares_of(extent, count);
  Blocks mine{0, static_cast<int>(count)};
  const PartSum sum_of_parts(parts);
  workers.run(mine.last, [&](int block, int) {
    const std::int64_t begin = block * sum_block;
    sum_of_parts.add(begin, std::min(sum_block, extent - begin));
  });

  const int rank = ranks.rank();
  const auto has_parts = [&](int first_rank) {
    const auto [first, last] = aligned_share(shards, first_rank, ranks.count());
    return first < last;
  };
  thread_local std::vector<Real> received;
  std::vector<Level> levels;
  for (int distance = 1; distance < ranks.count(); distance *= 2) {
    const int peer = rank ^ distance, middle = mine.first + (mine.last - mine.first) / 2;
    const Blocks lower{mine.first, middle}, upper{middle, mine.last};
    const bool is_lower = (rank & distance) == 0;
    levels.push_back({peer, is_lower ? lower : upper, is_lower ? upper : lower});
    mine = levels.back().mine;
    const std::span<Real> here = mine.of(sum, extent);
    received.resize(std::max(received.size(), here.size()));
    Real* const in = received.data(); // the calling thread's buffer
    ranks.exchange(peer, std::as_bytes(levels.back().others.of(sum, extent)),
                   std::as_writable_bytes(std::span(in, here.size())));
    // The last ranks may have no shards, and neither may their groups.
    const int my_group = rank & ~(distance - 1), peers_group = my_group ^ distance;
    const bool add = has_parts(my_group) && has_parts(peers_group), take = !has_parts(my_group);
    workers.run({mine.first, mine.last}, [&](int block, int) {
      const Blocks one{block, block + 1};
      const std::int64_t n = one.size(extent);
      const Real* const from = in + (one.begin() - mine.begin());
      if (add) add_to(sum + one.begin(), from, n);
      else if (take) std::copy(from, from + n, sum + one.begin());
    });
  }
  workers.run({mine.first, mine.last}, [&](int block, int) {
    const Blocks one{block, block + 1};
    squares[block] = sum_of_squares(sum + one.begin(), one.size(extent));
  });
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    ranks.exchange(level->peer, std::as_bytes(level->mine.of(sum, extent)),
                   std::as_writable_bytes(level->others.of(sum, extent)));
    ranks.exchange(level->peer, std::as_bytes(level->mine.squares(squares)),
                   std::as_writable_bytes(level->others.squares(squares)));
  }
  return added(squares, count);
}

} // namespace heed::HEED_REAL
