#include "autograd/kernels/gemm.hpp"
#include "autograd/kernels/streaming.hpp"
#include "autograd/operation_count.hpp"

#include <type_traits>

namespace heed::HEED_REAL {

namespace {

// tanh(q + k) = 1 - 2 r with r = 1 / (1 + x) and x = exp(2q) exp(2k): products of exponentials that were taken once for
// each query and each key. The 1 adds the same to every score of a row, which softmax does not see; and since the rows
// of ds sum to zero, no gradient sees it either. r is as good as zero where x is above exp(limit), and no product of
// four 1 + x overflows below that.
constexpr bool single = std::is_same_v<Real, float>;
constexpr Real limit = single ? 21 : 36;
constexpr Real greatest = single ? 86 : 700;  // what exp still takes, either way
constexpr int group = 4;                      // queries, and dimensions, that are worked on together
constexpr std::int64_t pair_tile = 2 * lanes; // keys whose r stay in the cache between scores and gradients

// How x is formed without overflow: as a product; as a product that is cut off; or, for the pairs of a query or a key
// whose factor alone would overflow, as the exponential of the sum. Each pair comes out the same in all ranges in which
// it can, so what a query gets does not depend on keys that it does not see, bit for bit.
enum class Range { product, cut_product, mixed };
constexpr Real out_of_range = -1;             // in place of a factor

Pack inverse(const Pack& x) {
  if constexpr (single) {
    const Pack r = xsimd::reciprocal(x);      // 11 bits or more; each of Newton's steps doubles them
    const Pack once = r * xsimd::fnma(x, r, Pack(Real{2}));
    return sizeof(Real) * lanes == 64 ? once : once * xsimd::fnma(x, once, Pack(Real{2}));
  } else {
    return Real{1} / x;
  }
}

// One head's queries and keys, ready for `odds`.
struct Factors {
  Range range;
  Real *q, *q_twice;                  // [Tq, D]: exp(2q), and, in the mixed range, 2q
  Real *k_columns, *k_columns_twice;  // [D, k_row]: exp(2k), and 2k likewise
  std::int64_t width, k_row;
};

// 1 + x of the query's entry at q_at with a vector of keys at k_at, whose factors are k. The first operand of min is
// the bound, since the second one's NaN is kept.
template <Range range> Pack one_and_odds(const Factors& f, std::int64_t q_at, const Pack& k, std::int64_t k_at) {
  const Pack q(f.q[q_at]), one(Real{1}), zero(Real{0});
  const Pack product = xsimd::fma(q, k, one);
  if constexpr (range == Range::product) return product;
  const Pack cut = xsimd::min(Pack(Real{1} + std::exp(limit)), product);
  if constexpr (range == Range::cut_product) return cut;
  const Pack sum = xsimd::min(Pack(limit), Pack(f.q_twice[q_at]) + load(f.k_columns_twice + k_at));
  return xsimd::select((q < zero) || (k < zero), one + exponential(sum), cut);
}

// Largest magnitude and largest entry of each dimension of 2 x.
void bounds(const Scattered& x, std::int64_t rows, std::int64_t width, Real* magnitude, Real* high) {
  for (std::int64_t t = 0; t < rows; ++t)
    for (std::int64_t d = 0; d < width; ++d) {
      const Real v = 2 * x.p[t * x.row + d * x.column], size = std::abs(v);
      magnitude[d] = t == 0 || !(size <= magnitude[d]) ? size : magnitude[d];  // a NaN stays
      high[d] = t == 0 ? v : std::max(high[d], v);
    }
}

// What `prepare` works in, of one head at a time.
struct FactorsRoom {
  Factors factors;
  Real *q, *k, *bounds;  // [Tq, D] and [k_row, D], free once the factors are filled; [4, D]

  FactorsRoom(Tape::Scratch& scratch, const Extents& e, std::int64_t k_row)
      : factors{Range::product, scratch.take<Real>(e.queries * e.width), nullptr, scratch.take<Real>(e.width * k_row),
                nullptr, e.width, k_row},
        q(scratch.take<Real>(e.queries * e.width)), k(scratch.take<Real>(k_row * e.width)), bounds(scratch.take<Real>(4 * e.width)),
        scratch_(scratch) {}

  // What only the mixed range needs, and few heads ever do.
  void hold_sums(const Extents& e) {
    if (factors.q_twice) return;
    factors.q_twice = scratch_.take<Real>(e.queries * e.width);
    factors.k_columns_twice = scratch_.take<Real>(e.width * factors.k_row);
  }

private:
  Tape::Scratch& scratch_;
};

// Chooses the range, and fills the factors.
void prepare(const Scattered& q, const Scattered& k, const Extents& e, FactorsRoom& room) {
  Factors& f = room.factors;
  Real *q_size = room.bounds, *q_high = q_size + e.width, *k_size = q_high + e.width, *k_high = k_size + e.width;
  bounds(q, e.queries, e.width, q_size, q_high);
  bounds(k, e.keys, e.width, k_size, k_high);
  bool low_enough = true, representable = true;
  for (std::int64_t d = 0; d < e.width; ++d) {
    low_enough = low_enough && q_high[d] + k_high[d] <= limit;
    representable = representable && q_size[d] <= greatest && k_size[d] <= greatest;
  }
  f.range = !representable ? Range::mixed : low_enough ? Range::product : Range::cut_product;
  if (f.range == Range::mixed) room.hold_sums(e);
  Real* q_twice = f.range == Range::mixed ? f.q_twice : f.q;
  Real* k_columns_twice = f.range == Range::mixed ? f.k_columns_twice : f.k_columns;
  for (std::int64_t t = 0; t < e.queries; ++t)
    for (std::int64_t d = 0; d < e.width; ++d) q_twice[t * e.width + d] = 2 * q.p[t * q.row + d * q.column];
  pack_columns(k, e.keys, e.width, 2, k_columns_twice, f.k_row);
  const auto exponentials = [](const Real* from, Real* to, std::int64_t n) {
    map(n, [&](std::int64_t at, int m) {
      const Pack x = load(from + at, m);
      store(to + at, xsimd::select(xsimd::abs(x) > Pack(greatest), Pack(out_of_range), exponential(x)), m);
    });
  };
  exponentials(q_twice, f.q, e.queries * e.width);
  exponentials(k_columns_twice, f.k_columns, e.width * f.k_row);
}

// -2 sum_d w_d r of up to `group` queries with the columns of a tile. Four dimensions share one division:
// a/A + b/B = (a B + b A) / (A B), twice.
template <Range range>
void scores_of_rows(const Factors& f, const Real* w, std::int64_t i, std::int64_t rows, std::int64_t j0,
                    const Columns& c, Real* tile) {
  const std::int64_t whole = f.width / group * group;
  for (std::int64_t at = c.c0; at < c.c1; at += lanes)
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto one_plus = [&](std::int64_t d) {
        const std::int64_t k_at = d * f.k_row + j0 + at;
        return one_and_odds<range>(f, (i + r) * f.width + d, load(f.k_columns + k_at), k_at);
      };
      Pack sum(Real{0});
      std::int64_t d = 0;
      for (; d < whole; d += group) {
        const Pack a = one_plus(d), b = one_plus(d + 1), m = one_plus(d + 2), n = one_plus(d + 3);
        const Pack ab = a * b, mn = m * n;
        const Pack left = xsimd::fma(Pack(w[d]), b, w[d + 1] * a), right = xsimd::fma(Pack(w[d + 2]), n, w[d + 3] * m);
        sum = xsimd::fma(xsimd::fma(left, mn, right * ab), inverse(ab * mn), sum);
      }
      for (; d < f.width; ++d)
        sum = xsimd::fma(Pack(w[d]), inverse(one_plus(d)), sum);
      store(tile + r * key_tile + at, sum * Real{-2});
    }
}

struct PairwiseScores {
  const Factors& f;
  const Real* w;

  void operator()(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile) const {
    const auto work = f.range == Range::product       ? scores_of_rows<Range::product>
                      : f.range == Range::cut_product ? scores_of_rows<Range::cut_product>
                                                      : scores_of_rows<Range::mixed>;
    work(f, w, i, rows, j0, c, tile);
  }
};

// What the backward pass of one head reads, and the arrays that it adds up in.
struct Backward {
  const Factors& f;
  const Real* w;
  Scattered dy;
  PackedRows dy_rows;
  const Real *v_columns, *log_sums, *delta;
  Real* r;            // [D, group, pair_tile]: of the pairs under way
  Real* dq_lanes;     // [row_block, D, lanes]: sum over keys of ds r (1 - r), lane by lane
  Real* dk_columns;   // [D, whole_vectors(Tk)]: sum over queries of the same
  Real* dw_lanes;     // [D, lanes]: sum over pairs of ds r
  Real* dv;           // [Tk, whole_vectors(Dv)]
};

// Keeps r of some queries with the tile of keys from j0 on, and gives the scores, pair_tile apart.
template <Range range>
void keep_r(const Backward& a, std::int64_t i, std::int64_t rows, std::int64_t j0, Real* s) {
  Pack sum[group][2];
  for (auto& row : sum) row[0] = row[1] = Pack(Real{0});
  for (std::int64_t d = 0; d < a.f.width; ++d) {
    const std::int64_t k_at = d * a.f.k_row + j0;
    const Pack k0 = load(a.f.k_columns + k_at), k1 = load(a.f.k_columns + k_at + lanes);
    for (std::int64_t g = 0; g < rows; ++g) {
      const std::int64_t q_at = (i + g) * a.f.width + d;
      const Pack r0 = inverse(one_and_odds<range>(a.f, q_at, k0, k_at));
      const Pack r1 = inverse(one_and_odds<range>(a.f, q_at, k1, k_at + lanes));
      Real* to = a.r + (d * group + g) * pair_tile;
      r0.store_aligned(to);
      r1.store_aligned(to + lanes);
      sum[g][0] = xsimd::fma(Pack(a.w[d]), r0, sum[g][0]);
      sum[g][1] = xsimd::fma(Pack(a.w[d]), r1, sum[g][1]);
    }
  }
  for (std::int64_t g = 0; g < rows; ++g)
    for (int half = 0; half < 2; ++half) (sum[g][half] * Real{-2}).store_aligned(s + g * pair_tile + half * lanes);
}

// Adds what ds of some queries with one tile of keys gives to dq, dk and dw.
void add_slopes(const Backward& a, std::int64_t row_in_block, std::int64_t rows, std::int64_t j0, const Real* ds) {
  for (std::int64_t d = 0; d < a.f.width; ++d) {
    Real* dk = a.dk_columns + d * a.f.k_row + j0;
    Real* dw = a.dw_lanes + d * lanes;
    Pack k0 = load(dk), k1 = load(dk + lanes), w = load(dw);
    for (std::int64_t g = 0; g < rows; ++g) {
      const Real* r = a.r + (d * group + g) * pair_tile;
      const Pack s0 = Pack::load_aligned(ds + g * pair_tile), s1 = Pack::load_aligned(ds + g * pair_tile + lanes);
      const Pack r0 = Pack::load_aligned(r), r1 = Pack::load_aligned(r + lanes);
      const Pack u0 = s0 * r0, u1 = s1 * r1;
      const Pack g0 = xsimd::fnma(u0, r0, u0), g1 = xsimd::fnma(u1, r1, u1);
      Real* dq = a.dq_lanes + ((row_in_block + g) * a.f.width + d) * lanes;
      (load(dq) + (g0 + g1)).store_aligned(dq);
      k0 += g0;
      k1 += g1;
      w += u0 + u1;
    }
    store(dk, k0);
    store(dk + lanes, k1);
    store(dw, w);
  }
}

template <Range range>
void backward(const HeadProblem& head, const Backward& a, Real* dq, std::int64_t dq_row) {
  const Extents& e = head.e;
  const std::int64_t v_width = whole_vectors(e.value_width);
  alignas(64) Real p[row_block * pair_tile], ds[row_block * pair_tile], factors[pair_tile];
  for (std::int64_t i0 = 0; i0 < e.queries; i0 += row_block) {
    const BlockView block(head, i0);
    std::fill_n(a.dq_lanes, block.rows * e.width * lanes, Real{0});
    for (std::int64_t j0 = block.first / pair_tile * pair_tile; j0 < block.last; j0 += pair_tile) {
      const std::int64_t keys = std::min(pair_tile, e.keys - j0);
      if (!block.meets(j0, j0 + keys)) continue;
      small_product({a.dy.p + i0 * a.dy.row, a.dy.row, a.dy.column}, a.v_columns + j0, a.f.k_row, ds, pair_tile,
                    block.rows, pair_tile, e.value_width, false);
      for (std::int64_t r0 = 0; r0 < block.rows; r0 += group) {
        const std::int64_t rows = std::min<std::int64_t>(group, block.rows - r0);
        bool any = false;
        for (std::int64_t r = r0; r < r0 + rows; ++r)
          any = any || block.seen[r].meets(j0, j0 + keys);
        Real *p_rows = p + r0 * pair_tile, *d_rows = ds + r0 * pair_tile;
        if (!any) {
          std::fill_n(p_rows, rows * pair_tile, Real{0});
          continue;
        }
        keep_r<range>(a, i0 + r0, rows, j0, p_rows);
        for (std::int64_t g = 0; g < rows; ++g) {
          const std::int64_t i = i0 + r0 + g;
          Real *pr = p_rows + g * pair_tile, *dr = d_rows + g * pair_tile;
          fill_unseen(pr, j0, 0, pair_tile, block.seen[r0 + g], head.allowed(i), RunningSoftmax::nothing);
          if (head.options.dropout > 0) {
            head.dropout(i, j0, pair_tile, factors);
            for (std::int64_t c = 0; c < pair_tile; ++c) dr[c] *= factors[c];
          }
          for (std::int64_t c = 0; c < pair_tile; c += lanes) {
            const Pack weight = exponential(Pack::load_aligned(pr + c) - a.log_sums[i]);
            weight.store_aligned(pr + c);
            (weight * (Pack::load_aligned(dr + c) - a.delta[i])).store_aligned(dr + c);
          }
          if (head.options.dropout > 0)
            for (std::int64_t c = 0; c < pair_tile; ++c) pr[c] *= factors[c];
        }
        add_slopes(a, r0, rows, j0, d_rows);
      }
      small_product({p, 1, pair_tile}, a.dy_rows.p + i0 * a.dy_rows.row, a.dy_rows.row, a.dv + j0 * v_width, v_width,
                    keys, v_width, block.rows, true);
    }
    for (std::int64_t r = 0; r < block.rows; ++r)
      for (std::int64_t d = 0; d < e.width; ++d)
        dq[(i0 + r) * dq_row + d] = 4 * a.w[d] * lane_sum(load(a.dq_lanes + (r * e.width + d) * lanes));
  }
}

// A gradient's rows, for a product to write or add to.
Matrix matrix_of(const RowsInto& to, std::int64_t rows, std::int64_t columns) {
  return {to.p, rows, columns, to.row, to.column};
}
Matrix matrix_of(const Scattered& x, std::int64_t rows, std::int64_t columns) {
  return {const_cast<Real*>(x.p), rows, columns, x.row, x.column};
}

// An operand as one finds it, or projected by a matrix for each head, [H, columns of x, D].
struct Projected {
  Tensor x, matrix;  // no matrix: x itself
  std::int64_t rows, width;

  Matrix of_head(std::int64_t h) const {
    return {matrix.data + h * matrix.stride[0], matrix.shape[1], width, matrix.stride[1], 1};
  }
  // Of one head; `room` has [rows, D] for what is projected.
  Scattered head(std::int64_t b, std::int64_t h, Real* room) const {
    const Scattered own = head_of(x, x.data, b, h);
    if (!matrix.tape) return own;
    gemm(matrix_of(own, rows, x.shape[3]), of_head(h), row_major(room, rows, width));
    return {room, width, 1};
  }
  double operations() const {
    return matrix.tape ? 2.0 * static_cast<double>(x.shape[0] * x.shape[1] * rows * x.shape[3] * width) : 0;
  }
  // What the projections' gradient, [rows, D], gives to x and to the matrix. The matrix's is stored for the first entry
  // of the batch, and added to for the others.
  void put(const Matrix& gradient, const Into& dx, const Into& dm, std::int64_t b, std::int64_t h) const {
    if (dx) {
      const RowsInto to = head_of(x, dx, b, h);
      gemm(gradient, of_head(h).transposed(), matrix_of(to, rows, x.shape[3]), 1, to.first ? 0 : 1);
    }
    if (!dm) return;
    Matrix to = of_head(h);
    to.p = dm.p + h * matrix.stride[0];
    gemm(matrix_of(head_of(x, x.data, b, h), rows, x.shape[3]).transposed(), gradient, to, 1,
         dm.first && b == 0 ? 0 : 1);
  }
};

Tensor attend(const Op& op, const Tensor& q, const Tensor& k, const PairwiseMatrices& matrices, const Extents& e,
              const Tensor& w, const Tensor& v, const StreamingOptions& options) {
  Tape& tape = op.tape();
  // Keys are padded to whole tiles, so that every tile can be read and added to; to an odd number of them, so that the
  // columns of one key don't all fall into the same few sets of the cache.
  const std::int64_t k_row = ((e.keys + pair_tile - 1) / pair_tile | 1) * pair_tile, v_width = whole_vectors(e.value_width),
                     width = whole_vectors(e.width);
  const Tensor merged = op.output({e.batch, e.queries, e.heads, e.value_width});
  const Tensor y = transpose(merged, 1, 2);
  const bool projects = matrices.query.tape;
  const Projected from_q{q, matrices.query, e.queries, e.width}, from_k{k, matrices.key, e.keys, e.width};
  Real* log_sums = tape.keep<Real>(e.batch * e.heads * e.queries);
  Tape::Scratch scratch(tape);
  FactorsRoom room(scratch, e, k_row);
  Real* v_scratch = scratch.take<Real>(e.keys * v_width);
  Real* sums = scratch.take<Real>(row_block * v_width);
  for (std::int64_t b = 0; b < e.batch; ++b)
    for (std::int64_t h = 0; h < e.heads; ++h) {
      prepare(from_q.head(b, h, room.q), from_k.head(b, h, room.k), e, room);
      const PackedRows v_rows = pack_rows(head_of(v, v.data, b, h), e.keys, e.value_width, v_scratch);
      stream_forward({e, options, b, h}, PairwiseScores{room.factors, w.data + h * e.width}, v_rows, sums,
                     y.data + b * y.stride[0] + h * y.stride[1], y.stride[2],
                     log_sums + (b * e.heads + h) * e.queries);
    }
  // A score is an addition, a tanh, a multiplication and an addition for each dimension.
  const double operations = seen_pairs(e, options.mask) * static_cast<double>(4 * e.width + 2 * e.value_width);
  count_operations(operations);

  op.record(merged, [=] {
    Tape& t = *merged.tape;
    // What is projected anew doesn't count.
    count_operations(2 * operations - from_q.operations() - from_k.operations());
    const Real* dy = t.grad(merged);
    const auto [dq, dk, dv] = t.into_together({q, k, v});
    const Into dw = t.into(w), dwq = projects ? t.into(matrices.query) : Into{},
               dwk = projects ? t.into(matrices.key) : Into{};
    Tape::Scratch again(t);
    FactorsRoom room_again(again, e, k_row);
    Factors& f = room_again.factors;
    Real* values = again.take<Real>(e.value_width * k_row);
    Real* dy_scratch = again.take<Real>(e.queries * v_width);
    Real* delta = again.take<Real>(e.queries);
    Real *dq_rows = room_again.q, *dk_columns = room_again.k;
    Real* dk_rows = projects ? nullptr : again.take<Real>(e.keys * width);
    Backward a{f, nullptr, {}, {}, values, nullptr, delta, again.take<Real>(e.width * group * pair_tile),
               again.take<Real>(row_block * e.width * lanes), dk_columns,
               again.take<Real>(e.width * lanes), again.take<Real>(k_row * v_width)};
    for (std::int64_t b = 0; b < e.batch; ++b)
      for (std::int64_t h = 0; h < e.heads; ++h) {
        prepare(from_q.head(b, h, room_again.q), from_k.head(b, h, room_again.k), e, room_again);
        a.w = w.data + h * e.width;
        a.dy = head_of(y, dy, b, h);
        a.dy_rows = pack_rows(a.dy, e.queries, e.value_width, dy_scratch);
        pack_columns(head_of(v, v.data, b, h), e.keys, e.value_width, 1, values, k_row);
        row_deltas(head_of(y, y.data, b, h), a.dy, e.queries, e.value_width, delta);
        a.log_sums = log_sums + (b * e.heads + h) * e.queries;
        std::fill_n(a.dk_columns, e.width * k_row, Real{0});
        std::fill_n(a.dw_lanes, e.width * lanes, Real{0});
        std::fill_n(a.dv, k_row * v_width, Real{0});
        const HeadProblem head{e, options, b, h};
        if (f.range == Range::product) backward<Range::product>(head, a, dq_rows, e.width);
        else if (f.range == Range::cut_product) backward<Range::cut_product>(head, a, dq_rows, e.width);
        else backward<Range::mixed>(head, a, dq_rows, e.width);
        if (projects)
          from_q.put(row_major(dq_rows, e.queries, e.width), dq, dwq, b, h);
        else if (dq)
          put_rows(dq_rows, e.width, e.queries, e.width, 1, head_of(q, dq, b, h));
        if (dv) put_rows(a.dv, v_width, e.keys, e.value_width, 1, head_of(v, dv, b, h));
        for (std::int64_t d = 0; d < e.width; ++d) {
          Real* column = a.dk_columns + d * k_row;
          for (std::int64_t j = 0; j < e.keys; ++j) column[j] *= 4 * a.w[d];
        }
        if (projects) from_k.put({a.dk_columns, e.keys, e.width, 1, k_row}, dk, dwk, b, h);
        else if (dk) {
          pack_columns({a.dk_columns, k_row, 1}, e.width, e.keys, 1, dk_rows, width);
          put_rows(dk_rows, width, e.keys, e.width, 1, head_of(k, dk, b, h));
        }
        if (dw)
          for (std::int64_t d = 0; d < e.width; ++d)
            deposit(dw.p[h * e.width + d], -2 * lane_sum(load(a.dw_lanes + d * lanes)), dw.first && b == 0);
      }
  });
  return y;
}

} // namespace

Tensor attend_pairwise(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& v,
                       const StreamingOptions& options) {
  const Op op("attend_pairwise", {&q, &k, &w, &v});
  const Extents e = attention_extents(op, q, k, v);
  if (!(w.shape == Shape{e.heads, e.width}))
    op.fail(fmt::format("w must be [{}, {}], it is {}", e.heads, e.width, w.shape.text()));
  return attend(op, q, k, {}, e, contiguous(w), v, options);
}

Tensor attend_pairwise(const Tensor& q, const Tensor& k, const PairwiseMatrices& matrices, const Tensor& w,
                       const Tensor& v, const StreamingOptions& options) {
  const Op op("attend_pairwise", {&q, &k, &matrices.query, &matrices.key, &w, &v});
  op.check(q.rank() == 4 && k.rank() == 4 && v.rank() == 4, "q, k and v need four axes, they have {}, {} and {}",
           q.rank(), k.rank(), v.rank());
  op.check(w.rank() == 2, "w needs two axes, it has {}", w.rank());
  const Extents e{q.shape[0], q.shape[1], q.shape[2], k.shape[2], w.shape[1], v.shape[3]};
  if (!(k.shape == Shape{e.batch, e.heads, e.keys, k.shape[3]}) ||
      !(v.shape == Shape{e.batch, e.heads, e.keys, e.value_width}) || w.shape[0] != e.heads ||
      !(matrices.query.shape == Shape{e.heads, q.shape[3], e.width}) ||
      !(matrices.key.shape == Shape{e.heads, k.shape[3], e.width}))
    op.fail(fmt::format("q, k, v, Wq, Wk and w must be [B, H, Tq, Dq], [B, H, Tk, Dk], [B, H, Tk, Dv], [H, Dq, D], "
                        "[H, Dk, D] and [H, D]: they are {}, {}, {}, {}, {} and {}", q.shape.text(), k.shape.text(),
                        v.shape.text(), matrices.query.shape.text(), matrices.key.shape.text(), w.shape.text()));
  const auto in_rows = [](const Tensor& x) { return x.stride[-1] == 1 ? x : contiguous(x); };
  return attend(op, in_rows(q), in_rows(k), {in_rows(matrices.query), in_rows(matrices.key)}, e, contiguous(w), v,
                options);
}

} // namespace heed::HEED_REAL
