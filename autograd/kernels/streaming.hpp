// The forward pass of streaming attention, for any scores that can be computed tile by tile, and the softmax weights.
#pragma once

#include "autograd/kernels/heads.hpp"

namespace heed::HEED_REAL {

/// Calls f(first row, rows, columns) for each strip of a block of queries. A strip is small enough for registers.
/// `columns` are the columns that the strip sees in the tile of keys that starts at j0.
template <class F> void each_strip(const HeadProblem& head, const BlockView& block, std::int64_t j0, F&& f) {
  for (std::int64_t r0 = 0; r0 < block.rows; r0 += strip_rows) {
    const std::int64_t rows = std::min(strip_rows, block.rows - r0);
    f(r0, rows, seen_columns(head, block.seen + r0, block.i0 + r0, rows, j0));
  }
}

/// The output y of one head, and the log-sum-exp of each row. scores(i, rows, j0, columns, tile, row) writes the scores
/// of queries i .. i + rows - 1 with the given columns of the tile of keys that starts at j0; rows of the tile are
/// `row` apart. Scores after the last key are ignored. `sums` is scratch of [row_block, whole_vectors(Dv)]. Rows of y
/// are y_row apart.
template <class Scores>
void stream_forward(const HeadProblem& head, const Scores& scores, const PackedRows& v, Real* sums, Real* y,
                    std::int64_t y_row, Real* log_sums) {
  const Extents& e = head.e;
  const std::int64_t v_width = whole_vectors(e.value_width);
  alignas(64) Real s[row_block * key_tile];
  alignas(64) Real factors[key_tile];
  for (std::int64_t i0 = 0; i0 < e.queries; i0 += row_block) {
    const BlockView block(head, i0);
    RunningSoftmax softmax[row_block];
    std::fill_n(sums, block.rows * v_width, Real{0});
    for (std::int64_t j0 = block.first / key_tile * key_tile; j0 < block.last; j0 += key_tile)
      each_strip(head, block, j0, [&](std::int64_t r0, std::int64_t rows, const Columns& c) {
        if (c.none()) return;
        Real* tile = s + r0 * key_tile;
        scores(i0 + r0, rows, j0, c, tile, key_tile);
        head.finish_scores(head.tile(i0 + r0, rows, j0 + c.c0, c.c1 - c.c0, key_tile), tile + c.c0);
        for (std::int64_t r = 0; r < rows; ++r) {
          const std::int64_t i = r0 + r;
          Real* row = tile + r * key_tile;
          fill_unseen(row, j0, c.c0, c.c1, block.seen[i], head.allowed(i0 + i), RunningSoftmax::nothing);
          const Real shrink = softmax[i].take(row, c);
          if (shrink != 1)
            for (std::int64_t d = 0; d < v_width; d += lanes) {
              Real* sum = sums + i * v_width + d;
              (Simd::load_aligned(sum) * shrink).store_aligned(sum);
            }
          if (head.options.dropout > 0) {
            head.dropout(i0 + i, j0 + c.c0, c.c1 - c.c0, factors);
            for (std::int64_t k = c.c0; k < c.c1; ++k) row[k] *= factors[k - c.c0];
          }
        }
        small_product({tile + c.c0, key_tile, 1}, v.p + (j0 + c.c0) * v.row, v.row, sums + r0 * v_width, v_width, rows,
                      v_width, std::min(c.c1, e.keys - j0) - c.c0, true);
      });
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const Real inverse = softmax[r].inverse();
      log_sums[i0 + r] = softmax[r].log_sum();
      Real* out = y + (i0 + r) * y_row;
      map(e.value_width, [&](std::int64_t d, int n) { store(out + d, load(sums + r * v_width + d, n) * inverse, n); });
    }
  }
}

/// Writes the attention weights of one head to its part of [B, H, Tq, Tk], from the log-sum-exp of each row.
template <class Scores> void softmax_weights(const HeadProblem& head, const Scores& scores, const Real* log_sums) {
  const Extents& e = head.e;
  alignas(64) Real s[strip_rows * key_tile];
  Real* out = head.options.weights + head.number(0, 0);
  std::fill_n(out, e.queries * e.keys, Real{0});
  for (std::int64_t i0 = 0; i0 < e.queries; i0 += strip_rows) {
    const BlockView block(head, i0, strip_rows);
    for (std::int64_t j0 = block.first / key_tile * key_tile; j0 < block.last; j0 += key_tile) {
      const Columns c = seen_columns(head, block.seen, i0, block.rows, j0);
      if (c.none()) continue;
      scores(i0, block.rows, j0, c, s, key_tile);
      head.finish_scores(head.tile(i0, block.rows, j0 + c.c0, c.c1 - c.c0, key_tile), s + c.c0);
      for (std::int64_t r = 0; r < block.rows; ++r) {
        Real* row = s + r * key_tile;
        fill_unseen(row, j0, c.c0, c.c1, block.seen[r], head.allowed(i0 + r), RunningSoftmax::nothing);
        map(std::min(c.c1, e.keys - j0) - c.c0, [&](std::int64_t k, int n) {
          store(out + (i0 + r) * e.keys + j0 + c.c0 + k, bounded_exponential(load(row + c.c0 + k) - log_sums[i0 + r]),
                n);
        });
      }
    }
  }
}

} // namespace heed::HEED_REAL
