// A block of tokens of householder_products (autograd/householder.hpp): its matrices, and their gradients.
#pragma once

#include "autograd/householder.hpp"
#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/simd.hpp"
#include "autograd/row_rule.hpp"

#include <algorithm>

namespace heed::HEED_REAL::householder {

inline constexpr std::int64_t block_of_matrices = 64;

struct Sizes {
  std::int64_t batch, heads, queries, keys, matrices, width;

  std::int64_t first() const { return keys - matrices; } // the position of the first matrix
  std::int64_t offset() const { return keys - queries; } // the position of query 0
  std::int64_t blocks() const { return (matrices + block_of_matrices - 1) / block_of_matrices; }
  std::int64_t begin(std::int64_t c) const { return first() + c * block_of_matrices; }
  std::int64_t end(std::int64_t c) const { return std::min(begin(c) + block_of_matrices, keys); }
  // The first query at a token of block c or after it.
  std::int64_t first_query(std::int64_t c) const { return std::max<std::int64_t>(begin(c) - offset(), 0); }
  // The rows that the backward pass needs of a head: for each block, those of the queries that meet it, and for the
  // keys before the first matrix, those of all queries.
  std::int64_t rows_kept() const {
    std::int64_t rows = first() > 0 ? queries : 0;
    for (std::int64_t c = 0; c < blocks(); ++c) rows += queries - first_query(c);
    return rows;
  }
  // A product for each pair, and for each query and block one with a matrix [D, D].
  double operations() const {
    double pairs = 0;
    for (std::int64_t i = 0; i < queries; ++i) {
      const std::int64_t matrices = (i + offset() - first()) / block_of_matrices;
      pairs += static_cast<double>(i + offset() + 1 + matrices * width);
    }
    return 2 * static_cast<double>(batch * heads * width) * pairs;
  }
  double operations_of_blocks() const {
    const auto each = static_cast<double>(block_of_matrices * (3 * block_of_matrices + width));
    return 2 * static_cast<double>(batch * heads * width * (blocks() - 1)) * each;
  }
  std::int64_t rows_of_block() const { return block_of_matrices + width; }
};

struct Problem {
  Sizes sizes;
  Tensor q, k, w, b, blocks;
};

inline Tensor with_rows_in_one_piece(const Tensor& x) { return x.stride[3] != 1 ? contiguous(x) : x; }

// One head: the rows of a tensor [B, H, T, D].
struct Rows {
  Real* p;
  std::int64_t row, width;

  Rows(const Tensor& x, Real* numbers, std::int64_t b, std::int64_t h)
      : p(numbers + b * x.stride[0] + h * x.stride[1]), row(x.stride[2]), width(x.shape[3]) {}
  Real* at(std::int64_t t) const { return p + t * row; }
  Matrix part(std::int64_t begin, std::int64_t n) const { return {at(begin), n, width, row, 1}; }
};

// What a block makes of all later queries r: scores r K'^T, and r P.
struct Passage {
  Matrix keys, product;

  // blocks: [B, H, N, rows_of_block, D]
  Passage(const Sizes& s, const Tensor& blocks, Real* numbers, std::int64_t b, std::int64_t h, std::int64_t c) {
    Real* const at = numbers + b * blocks.stride[0] + h * blocks.stride[1] + c * blocks.stride[2];
    keys = row_major(at, block_of_matrices, s.width);
    product = row_major(at + block_of_matrices * s.width, s.width, s.width);
  }
};

// Sets the entries at and above the diagonal to 0.
inline void keep_strictly_lower(const Matrix& x) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    std::fill(x.p + i * x.row_stride + i, x.p + i * x.row_stride + x.columns, Real{0});
}

inline void subtract_row(Real* to, Real factor, const Real* from, std::int64_t n) {
  map(n, [&](std::int64_t i, int m) { store(to + i, load(to + i, m) - Simd(factor) * load(from + i, m), m); });
}

// The tokens of a block in a head: diag(b) W, N - I = stril(diag(b) W W^T), and L = stril(diag(b) W K^T).
struct Block {
  std::int64_t tokens, matrix; // matrix: the index of the first one
  Matrix k, w, scaled, inner, lower;
  const Real* b;
  std::int64_t b_row;
};

struct BlockRoom {
  Real *scaled, *inner, *lower;

  BlockRoom(Tape::Scratch& scratch, const Sizes& s)
      : scaled(scratch.take<Real>(block_of_matrices * s.width)),
        inner(scratch.take<Real>(block_of_matrices * block_of_matrices)),
        lower(scratch.take<Real>(block_of_matrices * block_of_matrices)) {}

  Block block(const Problem& p, std::int64_t batch, std::int64_t head, std::int64_t c) const {
    const Sizes& s = p.sizes;
    const std::int64_t n = s.end(c) - s.begin(c), matrix = c * block_of_matrices;
    Block out{.tokens = n,
              .matrix = matrix,
              .k = Rows(p.k, p.k.data, batch, head).part(s.begin(c), n),
              .w = Rows(p.w, p.w.data, batch, head).part(matrix, n),
              .scaled = row_major(scaled, n, s.width),
              .inner = row_major(inner, n, n),
              .lower = row_major(lower, n, n),
              .b = p.b.data + batch * p.b.stride[0] + head * p.b.stride[1] + matrix * p.b.stride[2],
              .b_row = p.b.stride[2]};
    for (std::int64_t t = 0; t < n; ++t) {
      const Real *const from = out.w.p + t * out.w.row_stride, factor = out.b[t * out.b_row];
      Real* const to = scaled + t * s.width;
      map(s.width, [&](std::int64_t d, int m) { store(to + d, Simd(factor) * load(from + d, m), m); });
    }
    gemm(out.scaled, out.w.transposed(), out.inner);
    keep_strictly_lower(out.inner);
    gemm(out.scaled, out.k.transposed(), out.lower);
    keep_strictly_lower(out.lower);
    return out;
  }
};

// Where the gradients are added to; null: nowhere.
struct Targets {
  Real *q, *k, *w, *b, *blocks;
};

inline void add_rows(const Matrix& from, const Tensor& like, Real* numbers, std::int64_t b, std::int64_t h,
                     std::int64_t begin) {
  if (!numbers) return;
  const Rows to(like, numbers, b, h);
  for (std::int64_t t = 0; t < from.rows; ++t) {
    Real* const row = to.at(begin + t);
    const Real* const more = from.p + t * from.row_stride;
    map(to.width, [&](std::int64_t d, int m) { store(row + d, load(row + d, m) + load(more + d, m), m); });
  }
}

// The gradients of a block's own numbers.
struct BlockGradients {
  Real *inner, *lower, *scaled, *k, *w;

  BlockGradients(Tape::Scratch& scratch, const Sizes& s)
      : inner(scratch.take<Real>(block_of_matrices * block_of_matrices)),
        lower(scratch.take<Real>(block_of_matrices * block_of_matrices)),
        scaled(scratch.take<Real>(block_of_matrices * s.width)), k(scratch.take<Real>(block_of_matrices * s.width)),
        w(scratch.take<Real>(block_of_matrices * s.width)) {}

  // Adds them to those of keys, directions and strengths.
  void finish(const Problem& p, const Block& block, std::int64_t b, std::int64_t h, const Targets& to) const {
    const std::int64_t n = block.tokens, width = p.sizes.width;
    const Matrix d_inner = row_major(inner, n, n), d_lower = row_major(lower, n, n),
                 d_scaled = row_major(scaled, n, width), d_k = row_major(k, n, width), d_w = row_major(w, n, width);
    keep_strictly_lower(d_inner);
    keep_strictly_lower(d_lower);
    gemm(d_inner, block.w, d_scaled, 1, 1);
    gemm(d_inner.transposed(), block.scaled, d_w, 1, 1);
    gemm(d_lower, block.k, d_scaled, 1, 1);
    gemm(d_lower.transposed(), block.scaled, d_k, 1, 1);
    for (std::int64_t t = 0; t < n; ++t) {
      subtract_row(w + t * width, -block.b[t * block.b_row], scaled + t * width, width);
      if (to.b)
        to.b[b * p.b.stride[0] + h * p.b.stride[1] + (block.matrix + t) * block.b_row] +=
            row_dot(scaled + t * width, block.w.p + t * block.w.row_stride, width);
    }
    add_rows(d_k, p.k, to.k, b, h, p.sizes.first() + block.matrix);
    add_rows(d_w, p.w, to.w, b, h, block.matrix);
  }
};

} // namespace heed::HEED_REAL::householder
