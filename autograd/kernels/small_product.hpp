// Small matrix products on packed data, for kernels that work tile by tile: rows of C stay in registers, vectors run along
// C's columns.
#pragma once

#include "autograd/kernels/pack.hpp"

#include <algorithm>
#include <cstdint>

namespace heed::HEED_REAL {

/// Rows of C that are kept in registers at once, beside two vectors of columns: 8 where there are 32 registers.
inline constexpr int product_rows = sizeof(Real) * lanes == 64 ? 8 : lanes >= 4 && sizeof(Real) * lanes == 32 ? 6 : 4;

/// n rounded up to whole vectors.
inline constexpr std::int64_t whole_vectors(std::int64_t n) { return (n + lanes - 1) / lanes * lanes; }

/// Element (i, k) stands at p[i row + k column]: read one by one, so any strides will do.
struct Scattered {
  const Real* p;
  std::int64_t row, column;
};

namespace detail {

template <int Rows, int Vectors>
inline void product_block(const Scattered& a, const Real* b, std::int64_t b_row, Real* c, std::int64_t c_row,
                          std::int64_t depth, bool add) {
  Pack sum[Rows][Vectors];
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Vectors; ++j) sum[i][j] = add ? Pack::load_unaligned(c + i * c_row + j * lanes) : Pack(Real{0});
  for (std::int64_t k = 0; k < depth; ++k) {
    Pack right[Vectors];
    for (int j = 0; j < Vectors; ++j) right[j] = Pack::load_unaligned(b + k * b_row + j * lanes);
    for (int i = 0; i < Rows; ++i) {
      const Pack left(a.p[i * a.row + k * a.column]);
      for (int j = 0; j < Vectors; ++j) sum[i][j] = xsimd::fma(left, right[j], sum[i][j]);
    }
  }
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Vectors; ++j) sum[i][j].store_unaligned(c + i * c_row + j * lanes);
}

template <int Rows>
inline void product_rows_of(const Scattered& a, const Real* b, std::int64_t b_row, Real* c, std::int64_t c_row,
                            std::int64_t columns, std::int64_t depth, bool add) {
  std::int64_t j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes) product_block<Rows, 2>(a, b + j, b_row, c + j, c_row, depth, add);
  if (j < columns) product_block<Rows, 1>(a, b + j, b_row, c + j, c_row, depth, add);
}

template <int Rows>
inline void product_rest(const Scattered& a, const Real* b, std::int64_t b_row, Real* c, std::int64_t c_row,
                         std::int64_t rows, std::int64_t columns, std::int64_t depth, bool add) {
  if (rows == Rows) return product_rows_of<Rows>(a, b, b_row, c, c_row, columns, depth, add);
  if constexpr (Rows > 1) product_rest<Rows - 1>(a, b, b_row, c, c_row, rows, columns, depth, add);
}

} // namespace detail

/// c (+)= a b with a [rows, depth], b [depth, columns] and c [rows, columns], b and c with unit column strides. `columns`
/// is a multiple of `lanes`.
inline void small_product(Scattered a, const Real* b, std::int64_t b_row, Real* c, std::int64_t c_row,
                          std::int64_t rows, std::int64_t columns, std::int64_t depth, bool add) {
  std::int64_t i = 0;
  for (; i + product_rows <= rows; i += product_rows) {
    detail::product_rows_of<product_rows>({a.p + i * a.row, a.row, a.column}, b, b_row, c + i * c_row, c_row, columns,
                                          depth, add);
  }
  if (i < rows)
    detail::product_rest<product_rows - 1>({a.p + i * a.row, a.row, a.column}, b, b_row, c + i * c_row, c_row, rows - i,
                                           columns, depth, add);
}

} // namespace heed::HEED_REAL
