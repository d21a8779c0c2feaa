// Copies, and copies that add, between strided arrays.
#pragma once

#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/operation_count.hpp"

namespace heed::HEED_REAL {

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
