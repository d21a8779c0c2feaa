// Weights that meet the rows of many passes and stay as they are (Tape::FixedWeights).
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// w [out, in], packed for products x w^T.
struct FixedWeight {
  const Real* data;
  Shape shape, stride; ///< of w
  PackedMatrix packed;
  FixedWeight* next;
};

/// w^T, packed. Null where w is not among the tape's fixed weights, where the tape records, and where BLAS multiplies.
const PackedMatrix* fixed_weight(const Tensor& w);

} // namespace heed::HEED_REAL
