#include "autograd/kernels/dot_product_scores.hpp"
#include "autograd/kernels/memory_gradients.hpp"
#include "autograd/kernels/streaming.hpp"
#include "autograd/operation_count.hpp"

namespace heed::HEED_REAL {

namespace {

// The inputs of one head's backward pass, and its padded accumulation buffers.
struct Backward {
  DotProductScores scores;
  Scattered dy;
  const Real* v_tiles;
  PackedRows q_rows, k_rows, dy_rows;
  const Real *log_sums, *delta;
  Real *dq, *dk, *dv;              // [Tq, D], [key_tile, D], [key_tile, Dv], padded to whole vectors
  MemoryGradients::Share gathered; // replaces dk and dv if a single query's contribution is added later
};

// Computes the weights p and the scores' gradients ds of a block of queries within one tile of keys; both are 0 for
// masked pairs. Returns the columns that are not empty. With dropout, p is multiplied by the dropout factors.
Columns weights_and_gradients(const HeadProblem& head, const Backward& a, const BlockView& block, std::int64_t j0,
                              Real* p, Real* ds) {
  const Extents& e = head.e;
  Columns all;
  each_strip(head, block, j0, [&](std::int64_t, std::int64_t, const Columns& c) {
    if (c.none()) return;
    all = all.none() ? c : Columns{std::min(all.c0, c.c0), std::max(all.c1, c.c1)};
  });
  if (all.none()) return all;
  alignas(64) Real factors[key_tile], before[strip_rows * key_tile];
  each_strip(head, block, j0, [&](std::int64_t r0, std::int64_t rows, const Columns& c) {
    Real *p_tile = p + r0 * key_tile, *d_tile = ds + r0 * key_tile;
    if (!c.none()) {
      a.scores(block.i0 + r0, rows, j0, c, p_tile, key_tile);
      head.finish_scores(head.tile(block.i0 + r0, rows, j0 + c.c0, c.c1 - c.c0, key_tile), p_tile + c.c0, before);
      small_product(a.dy.from(block.i0 + r0), a.v_tiles + j0 * e.value_width + c.c0, key_tile, d_tile + c.c0, key_tile,
                    rows, c.c1 - c.c0, e.value_width, false);
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t i = block.i0 + r0 + r;
      Real *pr = p_tile + r * key_tile, *dr = d_tile + r * key_tile;
      if (!c.none()) {
        fill_unseen(pr, j0, c.c0, c.c1, block.seen[r0 + r], head.allowed(i), RunningSoftmax::nothing);
        const Real log_sum = a.log_sums[i], delta = a.delta[i];
        if (head.options.dropout > 0) {
          head.dropout(i, j0 + c.c0, c.c1 - c.c0, factors);
          for (std::int64_t k = c.c0; k < c.c1; ++k) dr[k] *= factors[k - c.c0];
        }
        for (std::int64_t k = c.c0; k < c.c1; k += lanes) {
          const Simd w = bounded_exponential(Simd::load_aligned(pr + k) - log_sum);
          w.store_aligned(pr + k);
          (w * (Simd::load_aligned(dr + k) - delta)).store_aligned(dr + k);
        }
        if (head.options.dropout > 0)
          for (std::int64_t k = c.c0; k < c.c1; ++k) pr[k] *= factors[k - c.c0];
      }
      const std::int64_t c0 = c.none() ? all.c1 : c.c0, c1 = c.none() ? all.c1 : c.c1;
      for (Real* row : {pr, dr}) {
        clear_vectors(row, all.c0, c0);
        clear_vectors(row, c1, all.c1);
      }
    }
    if (!c.none())
      head.pull_gradients(head.tile(block.i0 + r0, rows, j0 + c.c0, c.c1 - c.c0, key_tile), before, d_tile + c.c0);
  });
  return all;
}

void backward(const HeadProblem& head, const Backward& a, Real factor, const GradRows& dk, const GradRows& dv) {
  const Extents& e = head.e;
  const std::int64_t width = whole_vectors(e.width), v_width = whole_vectors(e.value_width);
  alignas(64) Real p[row_block * key_tile], ds[row_block * key_tile];
  const bool later = a.gathered.grad_scores;
  std::fill_n(a.dq, e.queries * width, Real{0});
  for (std::int64_t j0 = 0; j0 < e.keys; j0 += key_tile) {
    const std::int64_t keys = std::min(key_tile, e.keys - j0);
    if (!later) {
      std::fill_n(a.dk, key_tile * width, Real{0});
      std::fill_n(a.dv, key_tile * v_width, Real{0});
    }
    for (std::int64_t i0 = 0; i0 < e.queries; i0 += row_block) {
      const BlockView block(head, i0);
      if (!block.meets(j0, j0 + keys)) continue;
      const Columns c = weights_and_gradients(head, a, block, j0, p, ds);
      const std::int64_t n = std::min(c.c1, keys) - c.c0;
      if (n <= 0) continue;
      if (later) {
        std::copy_n(p + c.c0, n, a.gathered.weights + j0 + c.c0);
        std::copy_n(ds + c.c0, n, a.gathered.grad_scores + j0 + c.c0);
      } else {
        small_product({p + c.c0, 1, key_tile}, a.dy_rows.p + i0 * a.dy_rows.row, a.dy_rows.row, a.dv + c.c0 * v_width,
                      v_width, n, v_width, block.rows, true);
        small_product({ds + c.c0, 1, key_tile}, a.q_rows.p + i0 * a.q_rows.row, a.q_rows.row, a.dk + c.c0 * width,
                      width, n, width, block.rows, true);
      }
      small_product({ds + c.c0, key_tile, 1}, a.k_rows.p + (j0 + c.c0) * a.k_rows.row, a.k_rows.row, a.dq + i0 * width,
                    width, block.rows, width, n, true);
    }
    if (dk.p) put_rows(a.dk, width, keys, e.width, factor, dk, j0);
    if (dv.p) put_rows(a.dv, v_width, keys, e.value_width, 1, dv, j0);
  }
}

// The tiles of all heads of x, one head after the other.
const Real* tiles_of(const Tensor& x, Real factor) {
  const std::int64_t rows = x.shape[2], width = x.shape[3], size = width * whole_tiles(rows);
  Real* tiles = x.tape->keep<Real>(x.shape[0] * x.shape[1] * size);
  for (std::int64_t n = 0; n < x.shape[0] * x.shape[1]; ++n)
    pack_tiles(head_of(x, x.data, n / x.shape[1], n % x.shape[1]), rows, width, factor, tiles + n * size);
  return tiles;
}

} // namespace

const PackedMemory* pack_memory(const DotProductForm& form, const Tensor& v) {
  Tape& tape = *form.keys.tape;
  auto* m = new (tape.keep<PackedMemory>(1)) PackedMemory;
  m->factor = form.factor;
  m->key_tiles = tiles_of(form.keys, form.factor);
  if (!tape.recording()) return m;
  const bool same = form.factor == 1 && v.data == form.keys.data && v.shape == form.keys.shape &&
                    v.stride == form.keys.stride;
  m->value_tiles = same ? m->key_tiles : tiles_of(v, 1);
  m->gradients = MemoryGradients::make(form.keys, v, form.factor, form.queries.shape[1]);
  return m;
}

Tensor attend_softmax(const DotProductForm& form, const Tensor& v, const StreamingOptions& options) {
  const Tensor &q = form.queries, &k = form.keys;
  const Real factor = form.factor;
  const PackedMemory* packed = options.memory && options.memory->factor == factor ? options.memory : nullptr;
  Op op("attend_dot_product", {&q, &k, &v}, Counts::yes);
  op.require_grad(further_gradients(options));
  const Extents e = inner_extents(op, q, k, v);
  Tape& tape = op.tape();
  const std::int64_t tiled = whole_tiles(e.keys), width = whole_vectors(e.width),
                     v_width = whole_vectors(e.value_width);
  const Tensor merged = op.output({e.batch, e.queries, e.heads, e.value_width});
  const Tensor y = transpose(merged, 1, 2);
  Real* log_sums = tape.keep<Real>(e.batch * e.heads * e.queries);
  const auto tiles_of_head = [tiled, key_heads = e.key_heads](const Real* tiles, std::int64_t width, std::int64_t b,
                                                              std::int64_t kh) {
    return tiles + (b * key_heads + kh) * width * tiled;
  };
  const bool as_it_stands = !packed && e.queries == 1 && score_row_takes(head_of(k, k.data, 0, 0), e.width);
  const bool packs = !packed && !as_it_stands;
  const double operations = 2 * seen_pairs(e, options.mask) * static_cast<double>(e.width + e.value_width);
  count_operations(operations);
  {
    Tape::Scratch scratch(tape);
    begin(options, tape, scratch, false);
    const int threads = threads_for_heads(e, options, operations, false);
    const ThreadScratch k_tiles(scratch, threads, packs ? e.width * tiled : 0),
        v_scratch(scratch, threads, e.keys * v_width), sums(scratch, threads, row_block * v_width);
    each_head(e, options, threads, [&](int thread, std::int64_t b, std::int64_t h, std::int64_t kh) {
      const HeadProblem head{e, options, b, h};
      const Scattered keys = head_of(k, k.data, b, kh);
      Real* own_k_tiles = packs ? k_tiles.of(thread) : nullptr;
      if (packs && h % e.sharing() == 0) pack_tiles(keys, e.keys, e.width, factor, own_k_tiles);
      const DotProductScores scores{head_of(q, q.data, b, h),
                                    packed ? tiles_of_head(packed->key_tiles, e.width, b, kh) : own_k_tiles,
                                    e.width,
                                    keys,
                                    e.keys,
                                    factor};
      Real* head_sums = log_sums + (b * e.heads + h) * e.queries;
      const PackedRows v_rows = pack_rows(head_of(v, v.data, b, kh), e.keys, e.value_width, v_scratch.of(thread));
      stream_forward(head, scores, v_rows, sums.of(thread), y.data + b * y.stride[0] + h * y.stride[1], y.stride[2],
                     head_sums);
      if (options.weights) softmax_weights(head, scores, head_sums);
    });
  }

  op.record(merged, [=] {
    Tape& t = *merged.tape;
    count_operations(2 * operations);
    const Real* dy = t.grad(merged);
    Tape::Scratch room(t);
    begin(options, t, room, true);
    MemoryGradients* later = MemoryGradients::for_call(packed, e.queries);
    const auto [dq, dk, dv] = later ? std::array{t.grad_target(q), GradTarget{}, GradTarget{}}
                                    : t.grad_targets({q, k, v});
    const int threads = !later && each_written_once({dq, dk, dv})
                            ? threads_for_heads(e, options, 2.5 * operations, true)
                            : 1;
    const ThreadScratch k_tiles(room, threads, packed ? 0 : e.width * tiled),
        v_tiles(room, threads, packed ? 0 : e.value_width * tiled), q_scratch(room, threads, e.queries * width),
        k_scratch(room, threads, e.keys * width), dy_scratch(room, threads, e.queries * v_width),
        deltas(room, threads, e.queries), dq_rows(room, threads, e.queries * width),
        dk_rows(room, threads, key_tile * width), dv_rows(room, threads, key_tile * v_width);
    each_head(e, options, threads,
              [&, dq = dq, dk = dk, dv = dv](int thread, std::int64_t b, std::int64_t h, std::int64_t kh) {
                Real *own_k_tiles = k_tiles.of(thread), *own_v_tiles = v_tiles.of(thread), *delta = deltas.of(thread);
                Backward a{};
                a.dq = dq_rows.of(thread);
                a.dk = dk_rows.of(thread);
                a.dv = dv_rows.of(thread);
                if (!packed) {
                  pack_tiles(head_of(k, k.data, b, kh), e.keys, e.width, factor, own_k_tiles);
                  pack_tiles(head_of(v, v.data, b, kh), e.keys, e.value_width, 1, own_v_tiles);
                }
                a.scores = {head_of(q, q.data, b, h),
                            packed ? tiles_of_head(packed->key_tiles, e.width, b, kh) : own_k_tiles, e.width};
                a.v_tiles = packed ? tiles_of_head(packed->value_tiles, e.value_width, b, kh) : own_v_tiles;
                a.dy = head_of(y, dy, b, h);
                a.q_rows = pack_rows(a.scores.q, e.queries, e.width, q_scratch.of(thread));
                a.k_rows = pack_rows(head_of(k, k.data, b, kh), e.keys, e.width, k_scratch.of(thread));
                a.dy_rows = pack_rows(a.dy, e.queries, e.value_width, dy_scratch.of(thread));
                row_deltas(head_of(y, y.data, b, h), a.dy, e.queries, e.value_width, delta);
                a.delta = delta;
                a.log_sums = log_sums + (b * e.heads + h) * e.queries;
                const HeadProblem head{e, options, b, h};
                if (later) a.gathered = later->share(head, a.q_rows.p, a.dy_rows.p);
                backward(head, a, factor, key_head_of(k, dk, e, b, h), key_head_of(v, dv, e, b, h));
                if (dq) put_rows(a.dq, width, e.queries, e.width, factor, head_of(q, dq, b, h));
              });
    end_backward(options, t);
    if (later) later->end();
  });
  return y;
}

} // namespace heed::HEED_REAL
