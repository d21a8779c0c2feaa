// Vectors of length 1, as flash-linear-attention makes them.
#pragma once

#include "autograd/ops.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

/// x / sqrt(sum of x^2 + 1e-6) over the last axis.
inline Tensor of_length_one(const Tensor& x) {
  constexpr Real epsilon = Real(1e-6);
  const auto width = static_cast<Real>(x.shape[-1]);
  const Tensor factors = x.tape->make({x.shape[-1]});
  std::fill_n(factors.data, factors.size(), 1 / std::sqrt(width));
  return rms_norm(x, factors, epsilon / width);
}

} // namespace heed::HEED_REAL
