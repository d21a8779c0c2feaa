// Learned vectors that stand in each row of a batch.
#pragma once

#include "autograd/ops.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// Vectors [n, width] as [rows, n, width]: the same for all rows.
inline Tensor for_each_row(const Tensor& vectors, std::int64_t rows) {
  return add(vectors.tape->zeros({rows, 1, 1}), unsqueeze(vectors, 0));
}

} // namespace heed::HEED_REAL
