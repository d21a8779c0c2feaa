// Matrix products (GEMM): the engine's own (packed_product.hpp) if the build may use wide SIMD vectors, otherwise BLAS.
// Only this module calls BLAS.
#pragma once

#include "autograd/real.hpp"

#include <cstdint>
#include <string>

namespace heed {

/// Loads and configures BLAS, once per process: single-threaded (the shards use the threads), and with the code for
/// this CPU's instruction set.
///
/// OpenBLAS chooses its code from a list of CPU models. For an unknown model it falls back to SSE3, which is five times
/// slower on a CPU with AVX-512 that is newer than the list. If the CPU's instruction set allows better code than
/// OpenBLAS chose, this function selects the better code. A set OPENBLAS_CORETYPE takes precedence.
void prepare_blas();

/// The BLAS version and the instruction set that it uses, for manifests: "OpenBLAS 0.3.21 SkylakeX".
std::string blas_description();

namespace HEED_REAL {

/// A strided matrix in memory: element (i, j) is p[i row_stride + j column_stride]. A transpose is a view, so products
/// need no transpose flags.
struct Matrix {
  Real* p;
  std::int64_t rows, columns;
  std::int64_t row_stride, column_stride;

  Matrix transposed() const { return {p, columns, rows, column_stride, row_stride}; }
  /// `height` rows and `width` columns, from row i and column j on.
  Matrix part(std::int64_t i, std::int64_t j, std::int64_t height, std::int64_t width) const {
    return {p + i * row_stride + j * column_stride, height, width, row_stride, column_stride};
  }
};

/// A contiguous row-major matrix.
inline Matrix row_major(const Real* p, std::int64_t rows, std::int64_t columns) {
  return {const_cast<Real*>(p), rows, columns, columns, 1};
}

/// c = alpha a b + beta c, where a is [m, k], b is [k, n] and c is [m, n]. Each matrix needs a stride of 1 along one of
/// its axes, or only one element along it. Throws heed::Failed if a stride or an extent does not fit. With beta = 0, c
/// may be uninitialised. For k = 0, beta must be 0 or 1.
void gemm(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha = 1, Real beta = 0);

/// A callback for each part of a row of a product, called as soon as the part is computed and is still in the cache.
/// `run` gets a pointer to the part within c, which it may modify, and the part's length.
struct Finish {
  void (*run)(const void* context, Real* part, std::int64_t n);
  const void* context;
};

/// c = a b + row, then `finish` on each row. The row [n] is added to each row of c; a null row adds nothing. c must be
/// row-major.
void gemm_onto_row(const Matrix& a, const Matrix& b, const Real* row, const Matrix& c, const Finish* finish = nullptr);

/// A matrix [rows, columns] in the order in which the engine's own product reads its right operand. It is packed once
/// and can be used in many products (pack_matrix, packed_product.hpp).
struct PackedMatrix {
  const Real* p;
  std::int64_t rows, columns;
};

/// The same products with a packed b, always by the engine's own product. beta is 0 or 1, and c must be row-major.
void gemm(const Matrix& a, const PackedMatrix& b, const Matrix& c, Real beta = 0);
void gemm_onto_row(const Matrix& a, const PackedMatrix& b, const Real* row, const Matrix& c,
                   const Finish* finish = nullptr);

/// Computes `gemm` by BLAS in every build, without counting operations. Benchmarks and tests compare `gemm` with it.
void blas_gemm(const Matrix& a, const Matrix& b, const Matrix& c, Real alpha = 1, Real beta = 0);

} // namespace HEED_REAL
} // namespace heed
