// Small matrix products: on packed data, for kernels that work tile by tile; and of at most 4 left rows with a matrix
// that is used only once, such as one token times a weight, where nothing is packed.
#pragma once

#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/micro_kernel.hpp"
#include "autograd/kernels/packing.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace detail {

template <int Vectors>
inline void product_columns(const Scattered& a, const Real* b, std::int64_t b_row, Real* c, std::int64_t c_row,
                            std::int64_t rows, std::int64_t depth, Start start) {
  constexpr int together = rows_beside(Vectors);
  std::int64_t i = 0;
  for (; i + together <= rows; i += together)
    product_block<together, Vectors>(a.from(i), b, b_row, c + i * c_row, c_row, depth, start);
  if (i < rows)
    product_block_of<together - 1, Vectors>(rows - i, a.from(i), b, b_row, c + i * c_row, c_row, depth, start);
}

template <int Vectors>
inline void product_columns_of(std::int64_t vectors, const Scattered& a, const Real* b, std::int64_t b_row, Real* c,
                               std::int64_t c_row, std::int64_t rows, std::int64_t depth, Start start) {
  if (vectors == Vectors) return product_columns<Vectors>(a, b, b_row, c, c_row, rows, depth, start);
  if constexpr (Vectors > 1) product_columns_of<Vectors - 1>(vectors, a, b, b_row, c, c_row, rows, depth, start);
}

} // namespace detail

/// c = a b, or c += a b if `add`, with a [rows, depth], b [depth, columns] and c [rows, columns]. b and c have a column
/// stride of 1. `columns` is a multiple of `lanes`.
inline void small_product(const Scattered& a, const Real* b, std::int64_t b_row, Real* c, std::int64_t c_row,
                          std::int64_t rows, std::int64_t columns, std::int64_t depth, bool add) {
  // A single row has few sums, and each waits for its own previous step. So a single row uses more vectors at once.
  constexpr int vectors_of_one = 8;
  std::int64_t j = 0;
  for (; rows == 1 && j + vectors_of_one * lanes <= columns; j += vectors_of_one * lanes)
    product_block<1, vectors_of_one>(a, b + j, b_row, c + j, c_row, depth, add ? Start::there : Start::zero,
                                     c); // not read as start_row; a null pointer here makes GCC warn
  for (; j < columns; j += block_vectors * lanes)
    detail::product_columns_of<block_vectors>(std::min<std::int64_t>(block_vectors, (columns - j) / lanes), a, b + j,
                                              b_row, c + j, c_row, rows, depth, add ? Start::there : Start::zero);
}

} // namespace heed::HEED_REAL

#if defined(__FMA__)
#include <immintrin.h>
#endif

namespace heed::HEED_REAL {

/// The largest number of rows for which this product is faster than the packed one.
inline constexpr std::int64_t few_rows = 4;

namespace detail {

/// x y + z, rounded once. xsimd has no fused operation for vectors of this size, but every CPU with fused operations on
/// larger vectors also has them for this size.
template <class Vector> inline Vector fused(const Vector& x, const Vector& y, const Vector& z) {
#if defined(__FMA__)
  if constexpr (sizeof(typename Vector::value_type) == 4) return Vector(_mm_fmadd_ps(x, y, z));
  else return Vector(_mm_fmadd_pd(x, y, z));
#else
  return xsimd::fma(x, y, z);
#endif
}

/// c [Rows, Squares * square] = start + a b. The elements of each column of b are contiguous, and the columns are
/// `column` apart. Each square of b is transposed in registers. The order of summation is that of a packed product, so
/// the results are bit-identical.
template <int Rows, int Squares>
inline void few_rows_block(const Scattered& a, const Real* b, std::int64_t column, const Matrix& c, std::int64_t j,
                           std::int64_t depth, Start start, const Real* start_row) {
  Square sum[Rows * Squares];
  for (int r = 0; r < Rows; ++r)
    for (int s = 0; s < Squares; ++s) {
      const std::int64_t at = j + s * square;
      if (start == Start::zero) sum[r * Squares + s] = Square(Real{0});
      else
        sum[r * Squares + s] = Square::load_unaligned(start == Start::row ? start_row + at
                                                                          : c.p + r * c.row_stride + at);
    }
  const std::int64_t whole_depth = depth / square * square;
  for (std::int64_t k = 0; k < whole_depth; k += square) {
    unrolled<Squares>([&](auto s) __attribute__((always_inline)) {
      Square turned[square];
      turn_square(b + (j + s * square) * column + k, column, turned);
      unrolled<static_cast<int>(square)>([&](auto i) __attribute__((always_inline)) {
        unrolled<Rows>([&](auto r) __attribute__((always_inline)) {
          Square& to = sum[r * Squares + s];
          to = fused(Square(a.p[r * a.row + (k + i) * a.column]), turned[i], to);
        });
      });
    });
  }
  for (std::int64_t k = whole_depth; k < depth; ++k)
    for (int s = 0; s < Squares; ++s) {
      alignas(16) Real of_columns[square];
      for (std::int64_t i = 0; i < square; ++i) of_columns[i] = b[(j + s * square + i) * column + k];
      for (int r = 0; r < Rows; ++r)
        sum[r * Squares + s] = fused(Square(a.p[r * a.row + k * a.column]), Square::load_aligned(of_columns),
                                     sum[r * Squares + s]);
    }
  for (int r = 0; r < Rows; ++r)
    for (int s = 0; s < Squares; ++s) sum[r * Squares + s].store_unaligned(c.p + r * c.row_stride + j + s * square);
}

template <int Rows>
inline void few_rows_product_of(const Matrix& a, const Matrix& b, const Matrix& c, Start start, const Real* start_row) {
  if (c.rows < Rows) {
    if constexpr (Rows > 1) few_rows_product_of<Rows - 1>(a, b, c, start, start_row);
    return;
  }
  constexpr int squares = Rows > 2 ? 2 : 4;
  const Scattered left{a.p, a.row_stride, a.column_stride};
  std::int64_t j = 0;
  for (; j + squares * square <= c.columns; j += squares * square)
    few_rows_block<Rows, squares>(left, b.p, b.column_stride, c, j, a.columns, start, start_row);
  for (; j + square <= c.columns; j += square)
    few_rows_block<Rows, 1>(left, b.p, b.column_stride, c, j, a.columns, start, start_row);
  for (; j < c.columns; ++j)
    for (int r = 0; r < Rows; ++r) {
      Real& to = c.p[r * c.row_stride + j];
      Real sum = start == Start::zero ? 0 : start == Start::row ? start_row[j] : to;
      for (std::int64_t k = 0; k < a.columns; ++k)
        sum = std::fma(a.p[r * a.row_stride + k * a.column_stride], b.p[j * b.column_stride + k], sum);
      to = sum;
    }
}

} // namespace detail

/// Can few_rows_product compute this product? b must have a row stride of 1, as a transposed weight matrix has.
inline bool of_few_rows(const Matrix& b, const Matrix& c) { return c.rows <= few_rows && b.row_stride == 1; }

/// c = start + a b, bit-identical to packed_product.
inline void few_rows_product(const Matrix& a, const Matrix& b, const Matrix& c, Start start, const Real* start_row,
                             const Finish* finish) {
  detail::few_rows_product_of<few_rows>(a, b, c, start, start_row);
  if (finish)
    for (std::int64_t r = 0; r < c.rows; ++r) finish->run(finish->context, c.p + r * c.row_stride, c.columns);
}

} // namespace heed::HEED_REAL
