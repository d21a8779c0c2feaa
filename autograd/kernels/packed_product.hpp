// The engine's own matrix product, used if the build has wide SIMD vectors and fused multiply-add, and its packed
// weights: those of a recurrent decoder's steps (Tape::PackedWeightCache), and those that many forward passes multiply
// by without a change (Tape::FrozenWeights).
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/micro_kernel.hpp"
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

/// A weight w [out, in], packed for products x w^T.
struct FrozenWeight {
  const Real* data;
  Shape shape, stride; ///< of w
  PackedMatrix packed;
  FrozenWeight* next;
};

/// w^T, packed. Null if w is not one of the tape's frozen weights, if the tape records, or if BLAS does the products.
const PackedMatrix* frozen_weight(const Tensor& w);

/// Does this build use the engine's own product? A build without fused multiply-add and 32-byte vectors (a portable
/// build) does not: a BLAS that chooses its instruction set at run time is faster there.
#if defined(__FMA__)
inline constexpr bool own_product = sizeof(Real) * lanes >= 32;
#else
inline constexpr bool own_product = false;
#endif

/// c = start + alpha a b, where a is [m, k] and b is [k, n], with any strides, and c is [m, n] with a column stride of
/// 1. None of them is empty. The blocks follow Goto and van de Geijn 2008, Anatomy of high-performance matrix
/// multiplication: b is packed into panels of a few vectors; a is read in place unless its strides are bad for the
/// caches.
void packed_product(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha, Start start,
                    const Real* start_row = nullptr, const Finish* finish = nullptr);

/// Does packed_product copy this left operand?
bool gathers(const Matrix& a);

/// Packs b for any number of products. `to` must hold packed_size elements.
PackedMatrix pack_matrix(const Matrix& b, Real* to);
std::int64_t packed_size(std::int64_t rows, std::int64_t columns);

/// Like the product with the matrix itself and alpha = 1, bit for bit.
void packed_product(const Matrix& a, const PackedMatrix& b, const Matrix& c, Start start,
                    const Real* start_row = nullptr, const Finish* finish = nullptr);

} // namespace heed::HEED_REAL
