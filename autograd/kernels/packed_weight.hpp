// Weights that meet the rows of many steps, a few at a time, as those of a recurrent decoder do (Tape::PackedWeightCache).
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// A weight w [out, in] within a Tape::PackedWeightCache: y_t = x_t w^T at every step t. It is packed once for all of them. What each
/// step adds to its gradient, dy_t^T x_t, is gathered, and so becomes one product for many steps, in the order in which
/// the steps' own products would have been added.
struct PackedWeight {
  Tensor weight;
  Tensor node; ///< [1]: the closure of its operation runs behind those of all steps, and adds what is left
  PackedMatrix forwards, backwards; ///< w^T, for y_t; w, for the gradient of x_t
  std::int64_t room, gathered;      ///< rows
  Real *inputs, *grad_outputs;      ///< [room, in], [room, out]: x and dy of some steps, the last step first
  PackedWeight* next;

  /// Room for dy_t [rows, out], which the caller fills, beside x_t [rows, in], which is copied. Null where the weight
  /// wants no gradient. Called by the closure of step t.
  Real* gather(const Matrix& x);
};

/// Null outside of a Tape::PackedWeightCache, for more rows than the weight's first step had, and where BLAS multiplies, whose sums
/// have an order of their own.
PackedWeight* packed_weight(const Tensor& w, std::int64_t rows);

} // namespace heed::HEED_REAL
