// Weights that many forward passes multiply by and that do not change between them, packed once (Tape::FrozenWeights).
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// A weight w [out, in], packed for products x w^T.
struct FrozenWeight {
  const Real* data;
  Shape shape, stride; ///< of w
  PackedMatrix packed;
  FrozenWeight* next;
};

/// w^T, packed. Null if w is not one of the tape's frozen weights, if the tape records, or if BLAS does the products.
const PackedMatrix* frozen_weight(const Tensor& w);

} // namespace heed::HEED_REAL
