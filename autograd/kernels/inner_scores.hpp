// Scores of the inner-product form, tile by tile.
#pragma once

#include "autograd/kernels/heads.hpp"

namespace heed::HEED_REAL {

/// The extents of an inner form's attention, whose queries and keys have one width.
inline Extents inner_extents(const Op& op, const Tensor& q, const Tensor& k, const Tensor& v) {
  const Extents e = attention_extents(op, q, k, v);
  op.check(k.shape[3] == e.width, "q and k must have one width: q is {}, k is {}", q.shape.text(), k.shape.text());
  return e;
}

/// Keys, padded to whole tiles.
constexpr std::int64_t whole_tiles(std::int64_t keys) { return (keys + key_tile - 1) / key_tile * key_tile; }

/// Rows times a factor, turned tile by tile: [tiles, width, key_tile], with zeros behind the last row. Columns of all
/// rows at once would lie so far apart that they meet in a few sets of the caches.
inline void pack_tiles(const Scattered& x, std::int64_t rows, std::int64_t width, Real factor, Real* to) {
  for (std::int64_t j = 0; j < rows; j += key_tile)
    pack_columns(x.from(j), std::min(key_tile, rows - j), width, factor, to + j * width, key_tile);
}

/// Scores of some queries with the keys of a tile's columns, as a product.
struct InnerScores {
  Scattered q;
  const Real* k_tiles; // the keys times the factor
  std::int64_t width;

  void operator()(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
                  std::int64_t row) const {
    small_product(q.from(i), k_tiles + j0 * width + c.c0, key_tile, tile + c.c0, row, rows, c.c1 - c.c0, width, false);
  }
};

} // namespace heed::HEED_REAL
