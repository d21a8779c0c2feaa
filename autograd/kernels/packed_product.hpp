// The engine's own matrix product, used if the build has wide SIMD vectors and fused multiply-add.
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/micro_kernel.hpp"

namespace heed::HEED_REAL {

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
