// Scores of L1 distances, s_ij = -factor sum_d |q_id - k_jd|, and their gradients, computed tile by tile.
#pragma once

#include "autograd/kernels/dot_product_scores.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

/// Computes the scores of some queries with the keys in the columns of a tile. The sum of a pair is in the order of the
/// dimensions, so its bits do not depend on the tile.
struct DistanceScores {
  Scattered q;
  const Real* k_tiles; // from pack_tiles, without a factor
  std::int64_t width;
  Real factor;

  void operator()(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
                  std::int64_t row) const {
    constexpr int queries = 4, vectors = 2; // their sums stay in registers
    std::int64_t r = 0;
    for (; r + queries <= rows; r += queries) columns<queries, vectors>(i + r, j0, c, tile + r * row, row);
    for (; r < rows; ++r) columns<1, vectors>(i + r, j0, c, tile + r * row, row);
  }

private:
  template <int Queries, int Vectors>
  void columns(std::int64_t i, std::int64_t j0, const Columns& c, Real* tile, std::int64_t row) const {
    std::int64_t at = c.c0;
    for (; at + Vectors * lanes <= c.c1; at += Vectors * lanes) block<Queries, Vectors>(i, j0, at, tile, row);
    for (; at < c.c1; at += lanes) block<Queries, 1>(i, j0, at, tile, row);
  }

  template <int Queries, int Vectors>
  void block(std::int64_t i, std::int64_t j0, std::int64_t at, Real* tile, std::int64_t row) const {
    Simd sum[Queries][Vectors];
    for (auto& of_query : sum) std::fill_n(of_query, Vectors, Simd(Real{0}));
    const Real *keys = k_tiles + j0 * width + at, *queries = q.p + i * q.row;
    for (std::int64_t d = 0; d < width; ++d) {
      Simd k[Vectors];
      for (int v = 0; v < Vectors; ++v) k[v] = load(keys + d * key_tile + v * lanes);
      for (int n = 0; n < Queries; ++n) {
        const Simd x(queries[n * q.row + d * q.column]);
        for (int v = 0; v < Vectors; ++v) sum[n][v] += xsimd::abs(x - k[v]);
      }
    }
    for (int n = 0; n < Queries; ++n)
      for (int v = 0; v < Vectors; ++v) store(tile + n * row + at + v * lanes, sum[n][v] * -factor);
  }
};

/// Buffers that accumulate the gradients of one head's scores. A pair adds ds sign(q_id - k_jd), which is 0 where the
/// two are equal.
class DistanceGradients {
public:
  DistanceGradients() = default;
  DistanceGradients(Tape::Scratch& scratch, const Extents& e)
      : e_(e), dq_lanes_(scratch.take<Real>(row_block * e.width * lanes)),
        dk_tiles_(scratch.take<Real>(whole_tiles(e.keys) * e.width)),
        dk_rows_(scratch.take<Real>(key_tile * whole_vectors(e.width))) {}

  void begin() const { std::fill_n(dk_tiles_, whole_tiles(e_.keys) * e_.width, Real{0}); }

  /// Adds the gradients ds of a strip: queries i0 .. i0 + rows - 1 with `keys` keys from `origin`, a multiple of
  /// key_tile. Rows of ds are `row` apart. Writes the sums of the strip's queries to dq [rows, D].
  void add(const DistanceScores& scores, std::int64_t i0, std::int64_t rows, std::int64_t origin, std::int64_t keys,
           const Real* ds, std::int64_t row, Real* dq) const {
    std::fill_n(dq_lanes_, rows * e_.width * lanes, Real{0});
    for (std::int64_t c = 0; c < keys; c += key_tile)
      for (std::int64_t r = 0; r < rows; r += together)
        add_tile(scores, i0 + r, std::min<std::int64_t>(together, rows - r), origin + c, std::min(key_tile, keys - c),
                 ds + r * row + c, row, dq_lanes_ + r * e_.width * lanes);
    for (std::int64_t n = 0; n < rows * e_.width; ++n) dq[n] = lane_sum(load(dq_lanes_ + n * lanes));
  }
  /// Writes the gradients of the keys, times a factor.
  void put_keys(Real factor, const GradRows& to) const {
    const std::int64_t padded = whole_vectors(e_.width);
    for (std::int64_t j = 0; j < e_.keys; j += key_tile) {
      const std::int64_t keys = std::min(key_tile, e_.keys - j);
      pack_columns({dk_tiles_ + j * e_.width, key_tile, 1}, e_.width, keys, 1, dk_rows_, padded);
      put_rows(dk_rows_, padded, keys, e_.width, factor, to, j);
    }
  }

private:
  static constexpr int together = 4; // queries

  void add_tile(const DistanceScores& scores, std::int64_t i, std::int64_t queries, std::int64_t j0, std::int64_t keys,
                const Real* ds, std::int64_t row, Real* dq) const {
    alignas(64) Real padded[together * key_tile] = {}; // ds, with zeros for queries and keys that do not exist
    bool any = false;
    for (std::int64_t n = 0; n < queries; ++n)
      for (std::int64_t c = 0; c < keys; ++c) {
        padded[n * key_tile + c] = ds[n * row + c];
        any = any || ds[n * row + c] != 0;
      }
    if (!any) return;
    const Scattered& q = scores.q;
    const std::int64_t columns = whole_vectors(keys);
    for (std::int64_t d = 0; d < e_.width; ++d) {
      const Real* k_at = scores.k_tiles + j0 * e_.width + d * key_tile;
      Real* dk_at = dk_tiles_ + j0 * e_.width + d * key_tile;
      Simd x[together], sum[together];
      for (int n = 0; n < together; ++n) {
        x[n] = Simd(q.p[(i + std::min<std::int64_t>(n, queries - 1)) * q.row + d * q.column]);
        sum[n] = Simd(Real{0});
      }
      for (std::int64_t c = 0; c < columns; c += lanes) {
        const Simd k = load(k_at + c);
        Simd of_key = load(dk_at + c);
        for (int n = 0; n < together; ++n) {
          const Simd difference = x[n] - k;
          const Simd gradient = Simd::load_aligned(padded + n * key_tile + c) ^ xsimd::bitofsign(difference);
          const Simd here = xsimd::select(difference == Simd(Real{0}), Simd(Real{0}), gradient);
          sum[n] += here;
          of_key += here;
        }
        store(dk_at + c, of_key);
      }
      for (std::int64_t n = 0; n < queries; ++n) {
        Real* to = dq + (n * e_.width + d) * lanes;
        store(to, load(to) + sum[n]);
      }
    }
  }

  Extents e_{};
  Real *dq_lanes_ = nullptr, *dk_tiles_ = nullptr, *dk_rows_ = nullptr;
};

} // namespace heed::HEED_REAL
