// Copies matrices into the order in which matrix products read them.
#pragma once

#include "autograd/kernels/micro_kernel.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

/// Rows of whole vectors: a view of x if its rows are contiguous and a multiple of the vector width, otherwise a copy
/// in `scratch` [rows, whole_vectors(width)], padded with zeros.
struct PackedRows {
  const Real* p;
  std::int64_t row;
};
inline PackedRows pack_rows(const Scattered& x, std::int64_t rows, std::int64_t width, Real* scratch) {
  const std::int64_t padded = whole_vectors(width);
  if (x.column == 1 && padded == width) return {x.p, x.row};
  for (std::int64_t t = 0; t < rows; ++t) {
    Real* to = scratch + t * padded;
    for (std::int64_t d = 0; d < width; ++d) to[d] = x.p[t * x.row + d * x.column];
    std::fill(to + width, to + padded, Real{0});
  }
  return {scratch, padded};
}

namespace detail {

/// A square of 4 x 4 floats or 2 x 2 doubles, as vectors. Such a square is transposed in registers: log2(n) times, the
/// first half of the vectors is interleaved with the second half.
using Square = xsimd::make_sized_batch_t<Real, 16 / sizeof(Real)>;
inline constexpr std::int64_t square = Square::size;

/// Transposes the square at `from`, whose rows are `from_row` apart.
inline void turn_square(const Real* from, std::int64_t from_row, Square* turned) {
  const auto in = [&](std::int64_t i) { return Square::load_unaligned(from + i * from_row); };
  if constexpr (square == 4) {
    const Square a = in(0), b = in(1), c = in(2), d = in(3);
    const Square ac = xsimd::zip_lo(a, c), ac2 = xsimd::zip_hi(a, c), bd = xsimd::zip_lo(b, d),
                 bd2 = xsimd::zip_hi(b, d);
    turned[0] = xsimd::zip_lo(ac, bd);
    turned[1] = xsimd::zip_hi(ac, bd);
    turned[2] = xsimd::zip_lo(ac2, bd2);
    turned[3] = xsimd::zip_hi(ac2, bd2);
  } else {
    const Square a = in(0), b = in(1);
    turned[0] = xsimd::zip_lo(a, b);
    turned[1] = xsimd::zip_hi(a, b);
  }
}

} // namespace detail

/// The transpose of x times a factor: [width, padded], with zeros in columns rows .. padded - 1.
inline void pack_columns(const Scattered& x, std::int64_t rows, std::int64_t width, Real factor, Real* to,
                         std::int64_t padded) {
  constexpr std::int64_t n = detail::square;
  const std::int64_t whole_rows = x.column == 1 ? rows / n * n : 0, whole_width = width / n * n;
  for (std::int64_t t = 0; t < whole_rows; t += n)
    for (std::int64_t d = 0; d < whole_width; d += n) {
      detail::Square turned[n];
      detail::turn_square(x.p + t * x.row + d, x.row, turned);
      for (std::int64_t i = 0; i < n; ++i) (turned[i] * factor).store_unaligned(to + (d + i) * padded + t);
    }
  for (std::int64_t d = 0; d < width; ++d) {
    const std::int64_t done = d < whole_width ? whole_rows : 0;
    for (std::int64_t t = done; t < rows; ++t) to[d * padded + t] = factor * x.p[t * x.row + d * x.column];
    std::fill(to + d * padded + rows, to + (d + 1) * padded, Real{0});
  }
}

} // namespace heed::HEED_REAL
