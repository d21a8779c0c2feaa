// Weights that are multiplied by a few rows at each of many steps, as in a recurrent decoder. They are packed once
// (Tape::PackedWeightCache).
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/tape.hpp"

namespace heed::HEED_REAL {

/// A weight w [out, in] within a Tape::PackedWeightCache: y_t = x_t w^T at every step t. The weight is packed once for
/// all steps. The contributions dy_t^T x_t to its gradient are gathered and computed as one product for many steps.
/// They are added in the same order as one product per step would add them.
struct PackedWeight {
  Tensor weight;
  Tensor node; ///< [1]: the closure of this node's operation runs after the closures of all steps and adds the rest
  PackedMatrix forwards, backwards; ///< w^T, for y_t; w, for the gradient of x_t
  std::int64_t room, gathered;      ///< in rows
  Real *inputs, *grad_outputs;      ///< [room, in], [room, out]: x and dy of some steps, the last step first
  PackedWeight* next;

  /// A buffer for dy_t [rows, out], which the caller fills; x_t [rows, in] is copied next to it. Null if the weight
  /// needs no gradient. Called by the closure of step t.
  Real* gather(const Matrix& x);
};

/// Null outside of a Tape::PackedWeightCache, for more rows than the weight's first step had, and if BLAS does the
/// products, because BLAS sums in a different order.
PackedWeight* packed_weight(const Tensor& w, std::int64_t rows);

} // namespace heed::HEED_REAL
