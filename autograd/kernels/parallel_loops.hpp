// Loops over arrays that several threads share (autograd/thread_pool.hpp).
#pragma once

#include "autograd/kernels/simd.hpp"
#include "autograd/kernels/walk.hpp"
#include "autograd/thread_pool.hpp"

namespace heed::HEED_REAL {

/// Estimated nanoseconds for one element on one thread: of a loop that mostly reads and writes memory, of one with an
/// exponential or the like, and of one that draws random numbers.
inline constexpr double per_element = 0.3, per_exponential = 0.6, per_random_number = 1.0;

/// The number of elements at whose multiples a range may begin: whole cache lines of any vector width.
inline constexpr std::int64_t elements_together = 64;

/// `map` on several threads.
template <class F> void map_in_parallel(std::int64_t size, double each, F&& f) {
  in_parallel(size, each, elements_together, [&](std::int64_t begin, std::int64_t end) {
    map(end - begin, [&](std::int64_t i, int n) { f(begin + i, n); });
  });
}

/// `walk` on several threads. The first array is the one that is written to. If it is broadcast along an axis, one
/// thread writes to all of that axis. Ranges have two entries of an axis or more.
template <int N, class F>
void walk_in_parallel(const Shape& extent, const std::array<Shape, N>& stride, double each, F&& inner) {
  int axis = 0;
  while (axis < extent.rank && (extent[axis] == 1 || stride[0][axis] == 0)) ++axis;
  // A range of one entry would change how walk merges the axes, and with it the order of sums.
  if (axis == extent.rank || extent[axis] < 4 || extent.size() == 0) return walk<N>(extent, stride, inner);
  const std::int64_t pairs = extent[axis] / 2;
  const double of_pair = each * static_cast<double>(extent.size()) / static_cast<double>(pairs);
  in_parallel(pairs, of_pair, 1, [&](std::int64_t first, std::int64_t last) {
    const std::int64_t begin = 2 * first, end = last == pairs ? extent[axis] : 2 * last;
    Shape part = extent;
    part[axis] = end - begin;
    walk<N>(part, stride, [&](auto at, std::int64_t n, const auto& step) {
      for (std::size_t a = 0; a < N; ++a) at[a] += begin * stride[a][axis];
      inner(at, n, step);
    });
  });
}

} // namespace heed::HEED_REAL
