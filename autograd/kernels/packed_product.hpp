// The engine's own matrix product, for CPUs whose vectors and fused multiply-add the build may use.
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/micro_kernel.hpp"

namespace heed::HEED_REAL {

/// Is it used in this build? Without fused multiply-add and 32-byte vectors (a portable build), a BLAS that
/// chooses its kernels at run time is faster.
#if defined(__FMA__)
inline constexpr bool own_product = sizeof(Real) * lanes >= 32;
#else
inline constexpr bool own_product = false;
#endif

/// c = start + alpha a b, where a is [m, k] and b [k, n] with any strides, and c [m, n] has a column stride of 1; none
/// of them empty. The blocks follow Goto and van de Geijn 2008, Anatomy of high-performance matrix multiplication: b is
/// packed into panels of a few vectors, a is read where it stands unless its strides are bad for the caches.
void packed_product(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha, Start start,
                    const Real* start_row = nullptr, const Finish* finish = nullptr);

/// Packs b for any number of products; `to` has room for packed_size numbers.
PackedMatrix pack_matrix(const Matrix& b, Real* to);
std::int64_t packed_size(std::int64_t rows, std::int64_t columns);

/// The same as with the matrix itself and alpha = 1, bit for bit.
void packed_product(const Matrix& a, const PackedMatrix& b, const Matrix& c, Start start,
                    const Real* start_row = nullptr, const Finish* finish = nullptr);

} // namespace heed::HEED_REAL
