#include "autograd/shards.hpp"

#include "autograd/squares.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

namespace {

void add_to(Real* __restrict to, const Real* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

// The whole tree over one block, while the block is in the cache.
double sum_one_block(const std::vector<Real*>& parts, std::int64_t begin, std::int64_t n) {
  for (std::size_t distance = 1; distance < parts.size(); distance *= 2)
    for (std::size_t i = 0; i + distance < parts.size(); i += 2 * distance)
      add_to(parts[i] + begin, parts[i + distance] + begin, n);
  return sum_of_squares(parts[0] + begin, n);
}

} // namespace

double sum_parts(Workers& workers, const std::vector<Real*>& parts, std::int64_t extent) {
  // Grows once; the workers write to the calling thread's, each block to its own place.
  thread_local std::vector<double> squares_of_thread;
  squares_of_thread.resize(static_cast<std::size_t>((extent + sum_block - 1) / sum_block));
  double* const squares = squares_of_thread.data();
  const int blocks = static_cast<int>(squares_of_thread.size());
  const auto job = [&, squares](int block, int) {
    const std::int64_t begin = block * sum_block;
    squares[block] = sum_one_block(parts, begin, std::min(sum_block, extent - begin));
  };
  workers.run(blocks, job);

  double total = 0;
  for (int block = 0; block < blocks; ++block) total += squares[block];
  return total;
}

} // namespace heed::HEED_REAL
