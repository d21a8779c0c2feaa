// Loops over strided arrays of the same shape, such as the operands of a broadcast operation: copies, and loops that
// several threads share (autograd/thread_pool.hpp).
#pragma once

#include "autograd/kernels/simd.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/shape.hpp"
#include "autograd/thread_pool.hpp"

#include <array>
#include <cstdint>

namespace heed::HEED_REAL {

/// The strides of an operand that is broadcast to the shape `over`: 0 along each broadcast axis.
inline Shape stretched(const Shape& shape, const Shape& stride, const Shape& over) {
  Shape s = over;
  for (int i = 1; i <= over.rank; ++i) s[-i] = i > shape.rank || shape[-i] == 1 ? 0 : stride[-i];
  return s;
}

/// Calls inner(offsets, n, strides) for every innermost run of `extent`. `offsets` and `strides` hold one value for
/// each of the N arrays. Adjacent axes are merged if they are contiguous in all arrays.
template <int N, class F> void walk(Shape extent, std::array<Shape, N> stride, F&& inner) {
  if (extent.size() == 0) return;
  if (extent.rank == 0) {
    extent.push_back(1);
    for (Shape& s : stride) s.push_back(0);
  }
  int rank = 1; // number of merged axes, counted from the innermost; index rank - 1 is the outermost so far
  std::array<std::int64_t, Shape::max_rank> size{};
  std::array<std::array<std::int64_t, N>, Shape::max_rank> step{};
  for (int i = extent.rank - 1; i >= 0; --i) {
    const auto k = static_cast<std::size_t>(rank - 1);
    if (i == extent.rank - 1) {
      size[k] = extent[i];
      for (int a = 0; a < N; ++a) step[k][static_cast<std::size_t>(a)] = stride[static_cast<std::size_t>(a)][i];
      continue;
    }
    bool together = true;
    for (std::size_t a = 0; a < N; ++a) together = together && stride[a][i] == step[k][a] * size[k];
    if (extent[i] == 1) continue;
    if (size[k] == 1) {
      size[k] = extent[i];
      for (std::size_t a = 0; a < N; ++a) step[k][a] = stride[a][i];
    } else if (together) {
      size[k] *= extent[i];
    } else {
      size[k + 1] = extent[i];
      for (std::size_t a = 0; a < N; ++a) step[k + 1][a] = stride[a][i];
      ++rank;
    }
  }
  std::array<std::int64_t, Shape::max_rank> index{};
  std::array<std::int64_t, N> offset{};
  for (;;) {
    inner(offset, size[0], step[0]);
    int k = 1;
    for (; k < rank; ++k) {
      const auto at = static_cast<std::size_t>(k);
      for (std::size_t a = 0; a < N; ++a) offset[a] += step[at][a];
      if (++index[at] < size[at]) break;
      for (std::size_t a = 0; a < N; ++a) offset[a] -= step[at][a] * size[at];
      index[at] = 0;
    }
    if (k == rank) return;
  }
}

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

/// to <- from if `overwrite`, otherwise to <- to + from. Both arrays have the same shape. Does nothing while
/// CountingOnly is active.
inline void copy_strided(const Shape& extent, Real* to, const Shape& to_stride, const Real* from,
                         const Shape& from_stride, bool overwrite) {
  if (counting_only()) return;
  walk_in_parallel<2>(extent, {to_stride, from_stride}, per_element, [&](auto at, std::int64_t n, auto step) {
    Real* p = to + at[0];
    const Real* q = from + at[1];
    if (step[0] == 1 && step[1] == 1) {
      map(n, [&](std::int64_t i, int count) { accumulate(p + i, load(q + i, count), overwrite, count); });
    } else {
      for (std::int64_t i = 0; i < n; ++i) accumulate(p[i * step[0]], q[i * step[1]], overwrite);
    }
  });
}

} // namespace heed::HEED_REAL
