// Learned vectors that stand in each sequence of a batch.
#pragma once

#include "autograd/ops.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// Vectors [n, width] as [sequences, n, width]: the same for all sequences.
inline Tensor for_each_sequence(const Tensor& vectors, std::int64_t sequences) {
  return add(vectors.tape->zeros({sequences, 1, 1}), unsqueeze(vectors, 0));
}

} // namespace heed::HEED_REAL
