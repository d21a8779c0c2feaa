#include "autograd/householder.hpp"

#include "autograd/kernels/heads.hpp"
#include "autograd/kernels/householder_block.hpp"
#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/operation_count.hpp"

#include <algorithm>

namespace heed::HEED_REAL {

using namespace householder;

namespace {

// ---- queries at a block's own tokens --------------------------------------------------------------------------------

// X of `own` queries r, of which the first is at token `first` of the block: [own, tokens].
struct OwnQueries {
  std::int64_t first, count;
  Matrix r, x;

  // The tokens at or before query i.
  std::int64_t seen(std::int64_t i) const { return first + i + 1; }

  OwnQueries(const Block& block, std::int64_t first_token, const Matrix& rows, Real* to)
      : first(first_token), count(rows.rows), r(rows), x(row_major(to, rows.rows, block.tokens)) {
    const std::int64_t n = block.tokens;
    gemm(r, block.w.transposed(), x);
    for (std::int64_t i = 0; i < count; ++i) {
      Real* const row = to + i * n;
      std::fill(row + seen(i), row + n, Real{0});
      for (std::int64_t t = seen(i) - 1; t > 0; --t) subtract_row(row, row[t], block.inner.p + t * n, t);
    }
  }
};

// The memory that a thread needs.
struct Room {
  BlockRoom block;
  BlockGradients gradients;
  Real *x, *r[2];        // r: forward, if nothing is stored
  Real *dy, *dx, *dr[2]; // backward

  Room(Tape::Scratch& scratch, const Sizes& s, bool for_backward) : block(scratch, s), gradients(scratch, s) {
    const auto take = [&](std::int64_t n, bool wanted) { return wanted ? scratch.take<Real>(n) : nullptr; };
    x = scratch.take<Real>(block_of_matrices * block_of_matrices);
    for (Real*& each : r) each = take(s.queries * s.width, !for_backward);
    dy = take(block_of_matrices * block_of_matrices, for_backward);
    dx = take(block_of_matrices * block_of_matrices, for_backward);
    for (Real*& each : dr) each = take(s.queries * s.width, for_backward);
  }
};

// The queries that meet block c: those at its tokens, then later ones.
struct Meeting {
  std::int64_t first, own, later, first_token;

  Meeting(const Sizes& s, std::int64_t c)
      : first(s.first_query(c)), own(std::max<std::int64_t>(s.end(c) - s.offset() - first, 0)),
        later(s.queries - first - own), first_token(first + s.offset() - s.begin(c)) {}
};

// y [Tq, Tk] of one head. `kept`: memory for `rows_kept` rows; null: none are stored.
void forward(const Problem& p, const Room& room, std::int64_t b, std::int64_t h, Real* y, Real* kept) {
  const Sizes& s = p.sizes;
  const Rows q(p.q, p.q.data, b, h);
  const Matrix all = row_major(y, s.queries, s.keys);
  // Of the queries from `begun` on, multiplied by the matrices of later blocks. Earlier queries are put before them.
  Real* r = kept ? kept : room.r[0];
  std::int64_t begun = s.queries;
  const auto begin_queries = [&](std::int64_t from) {
    for (std::int64_t i = from; i < begun; ++i) std::copy_n(q.at(i), s.width, r + (i - from) * s.width);
    begun = from;
  };
  for (std::int64_t c = s.blocks() - 1; c >= 0; --c) {
    const Meeting meeting(s, c);
    begin_queries(meeting.first);
    const std::int64_t begin = s.begin(c), tokens = s.end(c) - begin, next_first = c > 0 ? s.first_query(c - 1) : 0;
    const bool has_next = c > 0 || s.first() > 0;
    Real* const next = kept ? r + (s.queries - meeting.first) * s.width : r == room.r[0] ? room.r[1] : room.r[0];
    Real* const after = next + (meeting.first - next_first) * s.width; // of the queries that are here
    for (std::int64_t i = 0; i < meeting.first; ++i) std::fill_n(y + i * s.keys + begin, tokens, Real{0});
    if (meeting.own > 0) {
      const Block block = room.block.block(p, b, h, c);
      const OwnQueries own(block, meeting.first_token, row_major(r, meeting.own, s.width), room.x);
      const Matrix out = all.part(meeting.first, begin, meeting.own, tokens);
      gemm(own.r, block.k.transposed(), out);
      gemm(own.x, block.lower, out, -1, 1);
      for (std::int64_t i = 0; i < meeting.own; ++i)
        std::fill(out.p + i * s.keys + own.seen(i), out.p + i * s.keys + tokens, Real{0});
      if (has_next) {
        std::copy_n(r, meeting.own * s.width, after);
        gemm(own.x, block.scaled, row_major(after, meeting.own, s.width), -1, 1);
      }
    }
    if (meeting.later > 0) {
      const Passage passage(s, p.blocks, p.blocks.data, b, h, c);
      const Matrix rows = row_major(r + meeting.own * s.width, meeting.later, s.width);
      gemm(rows, passage.keys.transposed(), all.part(meeting.first + meeting.own, begin, meeting.later, tokens));
      if (has_next) gemm(rows, passage.product, row_major(after + meeting.own * s.width, meeting.later, s.width));
    }
    r = next;
  }
  if (s.first() == 0) return;
  begin_queries(0);
  gemm(row_major(r, s.queries, s.width), Rows(p.k, p.k.data, b, h).part(0, s.first()).transposed(),
       all.part(0, 0, s.queries, s.first()));
}

void backward(const Problem& p, const Room& room, std::int64_t b, std::int64_t h, const Real* grad, const Real* kept,
              const Targets& to) {
  const Sizes& s = p.sizes;
  const BlockGradients& d = room.gradients;
  const Matrix all = row_major(grad, s.queries, s.keys);
  Real *dr = room.dr[0], *other = room.dr[1]; // of the rows after the current block, and before it
  const Real* r = kept + (s.rows_kept() - (s.first() > 0 ? s.queries : 0)) * s.width;
  std::fill_n(dr, s.queries * s.width, Real{0});
  for (std::int64_t j = 0; j < s.first(); j += block_of_matrices) { // keys before the first matrix
    const std::int64_t n = std::min(block_of_matrices, s.first() - j);
    const Matrix dy = all.part(0, j, s.queries, n), dk = row_major(d.k, n, s.width);
    gemm(dy, Rows(p.k, p.k.data, b, h).part(j, n), row_major(dr, s.queries, s.width), 1, 1);
    gemm(dy.transposed(), row_major(r, s.queries, s.width), dk);
    add_rows(dk, p.k, to.k, b, h, j);
  }
  for (std::int64_t c = 0; c < s.blocks(); ++c) {
    const Meeting meeting(s, c);
    r -= (s.queries - meeting.first) * s.width;
    const std::int64_t begin = s.begin(c), later = meeting.first + meeting.own;
    if (meeting.own > 0) {
      const Block block = room.block.block(p, b, h, c);
      const std::int64_t n = block.tokens, count = meeting.own;
      const OwnQueries own(block, meeting.first_token, row_major(r, count, s.width), room.x);
      const Matrix dy = row_major(room.dy, count, n), dx = row_major(room.dx, count, n),
                   d_rows = row_major(dr + meeting.first * s.width, count, s.width);
      for (std::int64_t i = 0; i < count; ++i) {
        std::copy_n(grad + (meeting.first + i) * s.keys + begin, own.seen(i), room.dy + i * n);
        std::fill(room.dy + i * n + own.seen(i), room.dy + (i + 1) * n, Real{0});
      }
      gemm(dy.transposed(), own.r, row_major(d.k, n, s.width));
      gemm(dy, block.lower.transposed(), dx, -1);
      gemm(d_rows, block.scaled.transposed(), dx, -1, 1);
      gemm(own.x.transposed(), dy, row_major(d.lower, n, n), -1);
      gemm(own.x.transposed(), d_rows, row_major(d.scaled, n, s.width), -1);
      gemm(dy, block.k, d_rows, 1, 1);
      for (std::int64_t i = 0; i < count; ++i) { // dx becomes the gradient of R W^T
        Real* const row = room.dx + i * n;
        for (std::int64_t t = 1; t < own.seen(i); ++t) row[t] -= row_dot(block.inner.p + t * n, row, t);
        std::fill(row + own.seen(i), row + n, Real{0});
      }
      gemm(own.x.transposed(), dx, row_major(d.inner, n, n), -1);
      gemm(dx, block.w, d_rows, 1, 1);
      gemm(dx.transposed(), own.r, row_major(d.w, n, s.width));
      d.finish(p, block, b, h, to);
      add_rows(d_rows, p.q, to.q, b, h, meeting.first);
    }
    if (meeting.later == 0) continue;
    const Passage passage(s, p.blocks, p.blocks.data, b, h, c);
    const Matrix rows = row_major(r + meeting.own * s.width, meeting.later, s.width),
                 dy = all.part(later, begin, meeting.later, block_of_matrices),
                 d_after = row_major(dr + later * s.width, meeting.later, s.width),
                 d_before = row_major(other + later * s.width, meeting.later, s.width);
    gemm(dy, passage.keys, d_before);
    if (c > 0 || s.first() > 0) gemm(d_after, passage.product.transposed(), d_before, 1, 1);
    if (to.blocks) {
      const Passage into(s, p.blocks, to.blocks, b, h, c);
      gemm(dy.transposed(), rows, into.keys, 1, 1);
      if (c > 0 || s.first() > 0) gemm(rows.transposed(), d_after, into.product, 1, 1);
    }
    std::swap(dr, other);
  }
}

// ---- blocks, for later queries --------------------------------------------------------------------------------------

// y = N^-1 y
void divide_by_inner(const Block& block, const Matrix& y) {
  for (std::int64_t t = 1; t < block.tokens; ++t)
    for (std::int64_t u = 0; u < t; ++u)
      subtract_row(y.p + t * y.columns, block.inner.p[t * block.tokens + u], y.p + u * y.columns, y.columns);
}
// y = N^-T y
void divide_by_inner_transposed(const Block& block, const Matrix& y) {
  for (std::int64_t u = block.tokens - 1; u > 0; --u)
    for (std::int64_t t = 0; t < u; ++t)
      subtract_row(y.p + t * y.columns, block.inner.p[u * block.tokens + t], y.p + u * y.columns, y.columns);
}

struct PassageRoom {
  BlockRoom block;
  BlockGradients gradients;
  Real *scaled, *lower, *d_scaled, *d_lower; // N^-1 diag(b) W, N^-1 L, and their gradients

  PassageRoom(Tape::Scratch& scratch, const Sizes& s)
      : block(scratch, s), gradients(scratch, s), scaled(scratch.take<Real>(block_of_matrices * s.width)),
        lower(scratch.take<Real>(block_of_matrices * block_of_matrices)),
        d_scaled(scratch.take<Real>(block_of_matrices * s.width)),
        d_lower(scratch.take<Real>(block_of_matrices * block_of_matrices)) {}

  void solve(const Block& of) const {
    std::copy_n(of.scaled.p, of.tokens * of.scaled.columns, scaled);
    std::copy_n(of.lower.p, of.tokens * of.tokens, lower);
    divide_by_inner(of, row_major(scaled, of.tokens, of.scaled.columns));
    divide_by_inner(of, row_major(lower, of.tokens, of.tokens));
  }
};

void forward_block(const Problem& p, const PassageRoom& room, std::int64_t b, std::int64_t h, std::int64_t c) {
  const std::int64_t n = block_of_matrices, width = p.sizes.width;
  const Block block = room.block.block(p, b, h, c);
  const Passage to(p.sizes, p.blocks, p.blocks.data, b, h, c);
  room.solve(block);
  for (std::int64_t t = 0; t < n; ++t) std::copy_n(block.k.p + t * block.k.row_stride, width, to.keys.p + t * width);
  gemm(row_major(room.lower, n, n).transposed(), block.w, to.keys, -1, 1);
  std::fill_n(to.product.p, width * width, Real{0});
  for (std::int64_t d = 0; d < width; ++d) to.product.p[d * width + d] = 1;
  gemm(block.w.transposed(), row_major(room.scaled, n, width), to.product, -1, 1);
}

void backward_block(const Problem& p, const PassageRoom& room, std::int64_t b, std::int64_t h, std::int64_t c,
                    const Passage& from, const Targets& to) {
  const std::int64_t n = block_of_matrices, width = p.sizes.width;
  const BlockGradients& d = room.gradients;
  const Block block = room.block.block(p, b, h, c);
  room.solve(block);
  const Matrix scaled = row_major(room.scaled, n, width), lower = row_major(room.lower, n, n),
               d_scaled = row_major(room.d_scaled, n, width), d_lower = row_major(room.d_lower, n, n);
  std::copy_n(from.keys.p, n * width, d.k);
  gemm(lower, from.keys, row_major(d.w, n, width), -1);
  gemm(scaled, from.product.transposed(), row_major(d.w, n, width), -1, 1);
  gemm(block.w, from.keys.transposed(), d_lower, -1);
  gemm(block.w, from.product, d_scaled, -1);
  divide_by_inner_transposed(block, d_lower);
  divide_by_inner_transposed(block, d_scaled);
  gemm(d_scaled, scaled.transposed(), row_major(d.inner, n, n), -1);
  gemm(d_lower, lower.transposed(), row_major(d.inner, n, n), -1, 1);
  std::copy_n(room.d_lower, n * n, d.lower);
  std::copy_n(room.d_scaled, n * width, d.scaled);
  d.finish(p, block, b, h, to);
}

// ---------------------------------------------------------------------------------------------------------------------

int threads_of(const Sizes& s, double operations) {
  constexpr double per_nanosecond = 20;
  return static_cast<int>(std::min<std::int64_t>(threads_for(operations / per_nanosecond),
                                                 std::max<std::int64_t>(s.batch * s.heads, 1)));
}

// Calls f(thread, b, h) for every head.
template <class F> void each_head(const Sizes& s, int threads, F&& f) {
  if (counting_only()) return;
  run_parts(threads, [&](int thread, int) {
    const UncountedOperations products;
    const std::int64_t heads = s.batch * s.heads, end = begin_of_part(heads, thread + 1, threads);
    for (std::int64_t head = begin_of_part(heads, thread, threads); head < end; ++head)
      f(thread, head / s.heads, head % s.heads);
  });
}

Problem problem_of(const Op& op, const Tensor& q, const Tensor& k, const HouseholderMatrices& matrices) {
  const Tensor &w = matrices.directions, &b = matrices.strengths;
  op.check(q.rank() == 4 && k.rank() == 4 && w.rank() == 4, "q, k and w need four axes, they have {}, {} and {}",
           q.rank(), k.rank(), w.rank());
  const Sizes s{q.shape[0], q.shape[1], q.shape[2], k.shape[2], w.shape[2], q.shape[3]};
  if (!(k.shape == Shape{s.batch, s.heads, s.keys, s.width}) ||
      !(w.shape == Shape{s.batch, s.heads, s.matrices, s.width}) ||
      !(b.shape == Shape{s.batch, s.heads, s.matrices, 1}) || s.queries > s.matrices || s.matrices > s.keys)
    op.fail(
        fmt::format("there must be keys [B, H, Tk, D], of which the last R have matrices [B, H, R, D] and [B, H, R, "
                    "1], and at most R queries: q is {}, k is {}, w is {}, b is {}",
                    q.shape.text(), k.shape.text(), w.shape.text(), b.shape.text()));
  return {s, with_rows_in_one_piece(q), with_rows_in_one_piece(k), with_rows_in_one_piece(w), b, {}};
}

Real* accumulator(Tape& tape, const Tensor& x) { return x.tape ? tape.grad_accumulator(x) : nullptr; }

} // namespace

Tensor householder_blocks(const Tensor& k, const HouseholderMatrices& matrices) {
  const Op op("householder_blocks", {&k, &matrices.directions, &matrices.strengths}, Counts::yes);
  Problem p = problem_of(op, matrices.directions, k, matrices);
  const Sizes& s = p.sizes;
  if (s.blocks() < 2) return {};
  const std::int64_t blocks = s.blocks() - 1;
  const Tensor y = p.blocks = op.output({s.batch, s.heads, blocks, s.rows_of_block(), s.width});
  const int threads = threads_of(s, s.operations_of_blocks());
  count_operations(s.operations_of_blocks());
  {
    Tape::Scratch scratch(op.tape());
    const PassageRoom* const rooms = rooms_of<PassageRoom>(threads, scratch, scratch, s);
    each_head(s, threads, [&](int thread, std::int64_t b, std::int64_t h) {
      for (std::int64_t c = 0; c < blocks; ++c) forward_block(p, rooms[thread], b, h, c);
    });
  }
  op.record(y, [=] {
    Tape& t = *y.tape;
    count_operations(2 * p.sizes.operations_of_blocks());
    const Targets to{nullptr, t.grad_accumulator(p.k), t.grad_accumulator(p.w), t.grad_accumulator(p.b), nullptr};
    const int on = threads_of(p.sizes, 2 * p.sizes.operations_of_blocks());
    auto* const dy = const_cast<Real*>(t.grad(y));
    Tape::Scratch scratch(t);
    const PassageRoom* const rooms = rooms_of<PassageRoom>(on, scratch, scratch, p.sizes);
    each_head(p.sizes, on, [&](int thread, std::int64_t b, std::int64_t h) {
      for (std::int64_t c = 0; c < blocks; ++c)
        backward_block(p, rooms[thread], b, h, c, Passage(p.sizes, y, dy, b, h, c), to);
    });
  });
  return y;
}

Tensor householder_products(const Tensor& q, const Tensor& k, const HouseholderMatrices& matrices) {
  const Tensor blocks = matrices.blocks.tape ? matrices.blocks : householder_blocks(k, matrices);
  const Op op("householder_products", {&q, &k, &matrices.directions, &matrices.strengths, blocks.tape ? &blocks : &k},
              Counts::yes);
  Problem p = problem_of(op, q, k, matrices);
  p.blocks = blocks;
  const Sizes& s = p.sizes;
  op.check(s.blocks() < 2 || (blocks.rank() == 5 && blocks.shape[2] >= s.blocks() - 1 &&
                              blocks.shape[3] == s.rows_of_block() && blocks.shape[4] == s.width),
           "the blocks must be those of householder_blocks");
  Tape& tape = op.tape();
  const Tensor y = op.output({s.batch, s.heads, s.queries, s.keys});
  const std::int64_t of_head = s.rows_kept() * s.width;
  Real* const kept = op.requires_grad() ? tape.keep<Real>(s.batch * s.heads * of_head) : nullptr;
  const int threads = threads_of(s, s.operations());
  count_operations(s.operations());
  {
    Tape::Scratch scratch(tape);
    const Room* const rooms = rooms_of<Room>(threads, scratch, scratch, s, false);
    each_head(s, threads, [&](int thread, std::int64_t b, std::int64_t h) {
      const std::int64_t head = b * s.heads + h;
      forward(p, rooms[thread], b, h, y.data + head * s.queries * s.keys, kept ? kept + head * of_head : nullptr);
    });
  }
  op.record(y, [=] {
    Tape& t = *y.tape;
    const Sizes& sizes = p.sizes;
    count_operations(2 * sizes.operations());
    const Targets to{t.grad_accumulator(p.q), t.grad_accumulator(p.k), t.grad_accumulator(p.w), t.grad_accumulator(p.b),
                     accumulator(t, p.blocks)};
    const int on = threads_of(sizes, 2 * sizes.operations());
    const Real* const dy = t.grad(y);
    Tape::Scratch scratch(t);
    const Room* const rooms = rooms_of<Room>(on, scratch, scratch, sizes, true);
    each_head(sizes, on, [&](int thread, std::int64_t b, std::int64_t h) {
      const std::int64_t head = b * sizes.heads + h;
      backward(p, rooms[thread], b, h, dy + head * sizes.queries * sizes.keys, kept + head * of_head, to);
    });
  });
  return y;
}

Tensor householder_keys(const Tensor& k, const HouseholderMatrices& matrices) {
  const Op op("householder_keys", {&k, &matrices.directions, &matrices.strengths}, Counts::yes);
  const Problem p = problem_of(op, matrices.directions, k, matrices);
  const Sizes& s = p.sizes;
  const Tensor y = op.tape().make(p.k.shape);
  const double each = 4 * static_cast<double>(s.matrices * s.width);
  count_operations(static_cast<double>(s.batch * s.heads * s.keys) * each);
  in_parallel(op.computed(s.batch * s.heads * s.keys), each / 20, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t head = row / s.keys, j = row % s.keys;
      const Rows w(p.w, p.w.data, head / s.heads, head % s.heads);
      const Real* const b = p.b.data + head / s.heads * p.b.stride[0] + head % s.heads * p.b.stride[1];
      Real* const key = y.data + row * s.width;
      std::copy_n(Rows(p.k, p.k.data, head / s.heads, head % s.heads).at(j), s.width, key);
      for (std::int64_t t = std::max<std::int64_t>(j + 1 - s.first(), 0); t < s.matrices; ++t)
        subtract_row(key, b[t * p.b.stride[2]] * row_dot(w.at(t), key, s.width), w.at(t), s.width);
    }
  });
  return y;
}

} // namespace heed::HEED_REAL
