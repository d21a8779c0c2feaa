// The innermost loop of every matrix product: a block of C that stays in registers.
#pragma once

#include "autograd/kernels/pack.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// How many vectors of C's columns, and how many rows beside them, fill the registers: 6 x 4 of the 32 of
/// AVX-512, 6 x 2 of the 16 of AVX2.
inline constexpr int block_vectors = sizeof(Real) * lanes == 64 ? 4 : 2;
inline constexpr int block_rows = sizeof(Real) * lanes >= 32 ? 6 : 4;

/// Rows that fill the registers beside fewer vectors.
inline constexpr int rows_beside(int vectors) {
  const int sums = block_rows * block_vectors;
  return sums / vectors < 2 * block_rows ? sums / vectors : 2 * block_rows;
}

/// n rounded up to whole vectors.
inline constexpr std::int64_t whole_vectors(std::int64_t n) { return (n + lanes - 1) / lanes * lanes; }

/// Element (i, k) stands at p[i row + k column]: read one by one, so any strides will do.
struct Scattered {
  const Real* p;
  std::int64_t row, column;

  Scattered from(std::int64_t i, std::int64_t k = 0) const { return {p + i * row + k * column, row, column}; }
};

/// What a product's sums start from.
enum class Start { zero, there, row };  ///< nothing; what stands in C; `start_row`, the same for every row of C

/// c = start + a b with a [Rows, depth], b [depth, Vectors lanes], c [Rows, Vectors lanes].
template <int Rows, int Vectors>
inline void product_block(const Scattered& a, const Real* b, std::int64_t b_row, Real* c, std::int64_t c_row,
                          std::int64_t depth, Start start, const Real* start_row = nullptr) {
  Pack sum[Rows][Vectors];
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Vectors; ++j)
      sum[i][j] = start == Start::zero    ? Pack(Real{0})
                  : start == Start::there ? Pack::load_unaligned(c + i * c_row + j * lanes)
                                          : Pack::load_unaligned(start_row + j * lanes);
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

/// The same for `rows` <= Rows.
template <int Rows, int Vectors>
inline void product_block_of(std::int64_t rows, const Scattered& a, const Real* b, std::int64_t b_row, Real* c,
                             std::int64_t c_row, std::int64_t depth, Start start, const Real* start_row = nullptr) {
  if (rows == Rows) return product_block<Rows, Vectors>(a, b, b_row, c, c_row, depth, start, start_row);
  if constexpr (Rows > 1)
    product_block_of<Rows - 1, Vectors>(rows, a, b, b_row, c, c_row, depth, start, start_row);
}

} // namespace heed::HEED_REAL
