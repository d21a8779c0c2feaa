// Scores of dot-product attention, s_ij = factor q_i . k_j, computed tile by tile.
#pragma once

#include "autograd/kernels/heads.hpp"
#include "autograd/kernels/packed_product.hpp"
#include "autograd/kernels/small_product.hpp"

#include <type_traits>

namespace heed::HEED_REAL {

/// The extents of dot-product attention. Throws if queries and keys differ in width.
inline Extents inner_extents(const Op& op, const Tensor& q, const Tensor& k, const Tensor& v) {
  const Extents e = attention_extents(op, q, k, v);
  op.check(k.shape[3] == e.width, "q and k must have one width: q is {}, k is {}", q.shape.text(), k.shape.text());
  return e;
}

/// The number of keys, rounded up to whole tiles.
constexpr std::int64_t whole_tiles(std::int64_t keys) { return (keys + key_tile - 1) / key_tile * key_tile; }

/// Rows times a factor, transposed tile by tile: [tiles, width, key_tile], padded with zeros after the last row.
/// Transposing all rows at once would put the elements of a column so far apart that they map to few cache sets.
inline void pack_tiles(const Scattered& x, std::int64_t rows, std::int64_t width, Real factor, Real* to) {
  for (std::int64_t j = 0; j < rows; j += key_tile)
    pack_columns(x.from(j), std::min(key_tile, rows - j), width, factor, to + j * width, key_tile);
}

/// Can score_row process these keys? Without fused multiply-add it cannot, because it would round the last keys
/// differently.
inline bool score_row_takes(const Scattered& k, std::int64_t width) {
  return own_product && k.column == 1 && width % detail::square == 0;
}

/// A single query's scores with n keys, without packing the keys: squares of keys are transposed in registers. The
/// result is bit-identical to the packed product.
inline void score_row(const Scattered& q, const Scattered& k, std::int64_t width, Real factor, Real* to,
                      std::int64_t n) {
  using detail::Square, detail::square, detail::unrolled;
  const auto keys_from = [&](std::int64_t j, auto squares) __attribute__((always_inline)) {
    constexpr int count = decltype(squares)::value;
    Square sum[count];
    for (int s = 0; s < count; ++s) sum[s] = Square(Real{0});
    for (std::int64_t d = 0; d < width; d += square)
      unrolled<count>([&](auto s) __attribute__((always_inline)) {
        Square turned[square];
        detail::turn_square(k.p + (j + s * square) * k.row + d, k.row, turned);
        unrolled<static_cast<int>(square)>([&](auto i) __attribute__((always_inline)) {
          sum[s] = detail::fused(Square(q.p[(d + i) * q.column]), turned[i] * factor, sum[s]);
        });
      });
    for (int s = 0; s < count; ++s) sum[s].store_unaligned(to + j + s * square);
  };
  std::int64_t j = 0;
  for (; j + 4 * square <= n; j += 4 * square) keys_from(j, std::integral_constant<int, 4>{});
  for (; j + square <= n; j += square) keys_from(j, std::integral_constant<int, 1>{});
  for (; j < n; ++j) {
    Real sum = 0;
    for (std::int64_t d = 0; d < width; ++d) sum = std::fma(q.p[d * q.column], factor * k.p[j * k.row + d], sum);
    to[j] = sum;
  }
}

/// Computes the scores of some queries with the keys in the columns of a tile, as a matrix product.
struct DotProductScores {
  Scattered q;
  const Real* k_tiles; // the keys times the factor; null: a single query reads the unpacked keys `k`
  std::int64_t width;
  Scattered k{};
  std::int64_t keys = 0;
  Real factor = 0;

  void operator()(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
                  std::int64_t row) const {
    if (!k_tiles)
      return score_row(q.from(i), k.from(j0 + c.c0), width, factor, tile + c.c0, std::min(c.c1, keys - j0) - c.c0);
    small_product(q.from(i), k_tiles + j0 * width + c.c0, key_tile, tile + c.c0, row, rows, c.c1 - c.c0, width, false);
  }
};

} // namespace heed::HEED_REAL
