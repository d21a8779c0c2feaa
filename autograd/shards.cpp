#include "autograd/shards.hpp"

#include "autograd/squares.hpp"

#include <algorithm>
#include <span>

namespace heed::HEED_REAL {

namespace {

void add_to(Real* __restrict to, const Real* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

// Sums one block over all parts, as a binary tree, while the block is in the cache.
void add_one_block(const std::vector<Real*>& parts, std::int64_t begin, std::int64_t n) {
  for (std::size_t distance = 1; distance < parts.size(); distance *= 2)
    for (std::size_t i = 0; i + distance < parts.size(); i += 2 * distance)
      add_to(parts[i] + begin, parts[i + distance] + begin, n);
}

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

double sum_parts(Workers& workers, const std::vector<Real*>& parts, std::int64_t extent) {
  std::size_t blocks = 0;
  double* const squares = squares_of(extent, blocks);
  const auto job = [&, squares](int block, int) {
    const std::int64_t begin = block * sum_block, n = std::min(sum_block, extent - begin);
    add_one_block(parts, begin, n);
    squares[block] = sum_of_squares(parts[0] + begin, n);
  };
  workers.run(static_cast<int>(blocks), job);
  return added(squares, blocks);
}

double sum_parts_of_team(Workers& workers, const std::vector<Real*>& parts, Real* sum, int shards,
                         std::int64_t extent) {
  Ranks& ranks = *workers.ranks();
  if (!parts.empty()) sum = parts[0];
  std::size_t count = 0;
  double* const squares = squares_of(extent, count);
  Blocks mine{0, static_cast<int>(count)};
  workers.run(mine.last, [&](int block, int) {
    const std::int64_t begin = block * sum_block;
    add_one_block(parts, begin, std::min(sum_block, extent - begin));
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
