// Weights that meet the rows of many passes and stay as they are (Tape::FrozenWeights).
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// w [out, in], packed for products x w^T.
struct FrozenWeight {
  const Real* data;
  Shape shape, stride; ///< of w
  PackedMatrix packed;
  FrozenWeight* next;
};

/// w^T, packed. Null where w is not among the tape's fixed weights, where the tape records, and where BLAS multiplies.
const PackedMatrix* frozen_weight(const Tensor& w);

} // namespace heed::HEED_REAL
