// Loops over several strided arrays of the same shape, such as the operands of a broadcast operation.
#pragma once

#include "autograd/shape.hpp"

#include <array>
#include <cstdint>

namespace heed {

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

} // namespace heed
