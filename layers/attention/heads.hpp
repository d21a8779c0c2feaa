// The layouts of heads.
#pragma once

#include "autograd/ops.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// A view of a part of a projection, [B, T, heads * D], as [B, heads, T, D].
inline Tensor split_heads(const Tensor& x, std::int64_t heads) {
  Tensor y = x;
  const std::int64_t width = x.shape[2] / heads;
  y.shape = {x.shape[0], heads, x.shape[1], width};
  y.stride = {x.stride[0], width * x.stride[2], x.stride[1], x.stride[2]};
  return y;
}

/// The inverse: [B, heads, T, D] to [B, T, heads * D].
inline Tensor merge_heads(const Tensor& x) {
  return reshape(transpose(x, 1, 2), {x.shape[0], x.shape[2], x.shape[1] * x.shape[3]});
}

/// A number for each token and head, [B, T, heads], as a column of each head, [B, heads, T, 1].
inline Tensor column_of_heads(const Tensor& x) { return unsqueeze(transpose(x), 3); }

/// Repeats shared heads: keys or values [B, Hk, Tk, D] to [B, heads, Tk, D].
Tensor repeat_heads(const Tensor& x, std::int64_t heads);

} // namespace heed::HEED_REAL
