// Matrix products: the engine's own (packed_product.hpp) where the build may use the CPU's wide vectors, BLAS's
// otherwise. The only place that knows of BLAS.
#pragma once

#include "autograd/real.hpp"

#include <cstdint>
#include <string>

namespace heed {

/// Makes BLAS ready, once per process: single-threaded (threads are the shards'), with the kernels of this CPU.
///
/// OpenBLAS picks its kernels by a list of CPU models and takes SSE3 ones where it does not know the model, five times
/// slower on a CPU with AVX-512 that is newer than the list. Where the instruction set allows better ones than it
/// chose, they are chosen here; OPENBLAS_CORETYPE, if set, wins.
void prepare_blas();

/// Which kernels are in use, for manifests: "OpenBLAS 0.3.21 SkylakeX".
std::string blas_description();

namespace HEED_REAL {

/// A matrix in memory: element (i, j) stands at p[i row_stride + j column_stride]. A transpose is a view, so no
/// product needs flags.
struct Matrix {
  Real* p;
  std::int64_t rows, columns;
  std::int64_t row_stride, column_stride;

  Matrix transposed() const { return {p, columns, rows, column_stride, row_stride}; }
};

/// A row-major matrix without gaps.
inline Matrix row_major(const Real* p, std::int64_t rows, std::int64_t columns) {
  return {const_cast<Real*>(p), rows, columns, columns, 1};
}

/// c = alpha a b + beta c, where a is [m, k], b is [k, n] and c is [m, n]. Each matrix needs a stride of 1 along one of
/// its axes (or one element there); heed::Failed otherwise, and where the extents do not fit. With beta = 0, c need not
/// hold numbers. Not for k = 0 with beta unlike 0 or 1.
void gemm(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha = 1, Real beta = 0);

/// What happens to each part of a product's row as soon as it is done, while it is in the cache: `run` gets the part's
/// place in c, which it may change, and its length.
struct Finish {
  void (*run)(const void* context, Real* part, std::int64_t n);
  const void* context;
};

/// c = a b + row, where the row, [n], is added to each of c's (no row: nothing is), which must be row-major; then
/// finished.
void gemm_onto_row(const Matrix& a, const Matrix& b, const Real* row, const Matrix& c, const Finish* finish = nullptr);

/// A matrix [rows, columns] in the order in which the engine's own product reads its right operand: packed once, it may
/// meet many others (pack_matrix, packed_product.hpp).
struct PackedMatrix {
  const Real* p;
  std::int64_t rows, columns;
};

/// The same products with a packed b, by the engine's own way; beta is 0 or 1, and c must be row-major.
void gemm(const Matrix& a, const PackedMatrix& b, const Matrix& c, Real beta = 0);
void gemm_onto_row(const Matrix& a, const PackedMatrix& b, const Real* row, const Matrix& c,
                   const Finish* finish = nullptr);

/// What `gemm` computes, by BLAS whatever the build and without counting: what benchmarks and tests compare it with.
void blas_gemm(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha = 1, Real beta = 0);

} // namespace HEED_REAL
} // namespace heed
