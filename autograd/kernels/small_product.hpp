// Small matrix products on packed data, for kernels that work tile by tile.
#pragma once

#include "autograd/kernels/micro_kernel.hpp"

#include <algorithm>

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
