// A quotient of sums of which the divisor may be 0.
#pragma once

#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

/// x / y with y [..., 1]; x itself where y is 0.
inline Tensor quotient(const Tensor& x, const Tensor& y) {
  const Tensor dense = contiguous(y), safe = y.tape->zeros(dense.shape);
  for (std::int64_t i = 0; i < dense.size(); ++i)
    if (dense.data[i] == 0) safe.data[i] = 1;
  return div(x, add(dense, safe));
}

} // namespace heed::HEED_REAL
