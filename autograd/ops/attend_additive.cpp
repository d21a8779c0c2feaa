#include "autograd/kernels/memory_gradients.hpp"
#include "autograd/kernels/additive_operands.hpp"
#include "autograd/kernels/streaming.hpp"
#include "autograd/operation_count.hpp"

#include <numeric>

namespace heed::HEED_REAL {

namespace {

using namespace pairwise;

// What one thread needs for the heads that it has.
struct ForwardRoom {
  FactorsRoom factors;
  Real *v, *sums;

  ForwardRoom(Tape::Scratch& scratch, const Operands& x, bool packed)
      : factors(scratch, x.e, x.k_row, packed), v(scratch.take<Real>(x.e.keys * whole_vectors(x.e.value_width))),
        sums(scratch.take<Real>(row_block * whole_vectors(x.e.value_width))) {}
};
struct BackwardRoom {
  FactorsRoom factors;
  AdditiveGradients gradients;
  Real *v_columns, *dy, *delta, *dv, *dk_rows; // v_columns is null if the values are packed

  BackwardRoom(Tape::Scratch& scratch, const Operands& x, const Gradients& to, bool packed)
      : factors(scratch, x.e, x.k_row, packed), gradients(scratch, factors, x.e),
        v_columns(packed ? nullptr : scratch.take<Real>(x.e.value_width * x.k_row)),
        dy(scratch.take<Real>(x.e.queries * whole_vectors(x.e.value_width))), delta(scratch.take<Real>(x.e.queries)),
        dv(scratch.take<Real>(x.k_row * whole_vectors(x.e.value_width))), dk_rows(to.room(scratch, x)) {}
};

// The inputs of one head's backward pass, and its accumulation buffers.
struct Backward {
  const AdditiveGradients& gradients;
  Scattered dy;
  PackedRows dy_rows;
  const Real *v_columns, *log_sums, *delta;
  Real* dv;                        // [Tk, whole_vectors(Dv)]
  Real total;                      // the sum of w, added to the scores if a formula needs it; otherwise 0
  Real* sum;                       // the sum of the scores' gradients, if a formula needs it
  MemoryGradients::Share gathered; // replaces dv if a single query's contribution is added later
};

// The kernel omits a constant, the sum of w, from all scores. A softmax ignores the constant, but a formula that
// changes the scores needs it. Returns the sum of w in that case, otherwise 0.
Real lacking(const HeadProblem& head, const Real* w) {
  return head.changes_scores() ? std::accumulate(w, w + head.e.width, Real{0}) : Real{0};
}
void add_total(Real total, std::int64_t rows, std::int64_t columns, Real* tile, std::int64_t row) {
  if (total == 0) return;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) tile[r * row + c] += total;
}

struct WholeScores {
  AdditiveScores scores;
  Real total;

  void operator()(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
                  std::int64_t row) const {
    scores(i, rows, j0, c, tile, row);
    add_total(total, rows, c.c1 - c.c0, tile + c.c0, row);
  }
};

// Does the formula's mask let a group of queries see any key of the tile that starts at j?
bool sees(const HeadProblem& head, std::int64_t i, std::int64_t j) {
  if (!head.options.formula || !head.options.formula->masks()) return true;
  const ScoreFormula::View v = head.options.formula->view(i, j);
  const std::int64_t c = j % key_tile;
  return c < v.c1 * lanes && c + pair_tile > v.c0 * lanes;
}

Real sum_of(const ScoreTile& tile, const Real* numbers) {
  Real sum = 0;
  for (std::int64_t r = 0; r < tile.queries; ++r)
    sum += sum_over(tile.keys, [&](std::int64_t c, int n) { return load(numbers + r * tile.row + c, n); });
  return sum;
}

template <Range range> void backward(const HeadProblem& head, const Backward& a, Real* dq) {
  const Extents& e = head.e;
  const std::int64_t v_width = whole_vectors(e.value_width);
  alignas(64) Real p[row_block * pair_tile], ds[row_block * pair_tile], factors[pair_tile], before[group * pair_tile];
  for (std::int64_t i0 = 0; i0 < e.queries; i0 += row_block) {
    const BlockView block(head, i0);
    a.gradients.begin_rows(block.rows);
    for (std::int64_t j0 = block.first / pair_tile * pair_tile; j0 < block.last; j0 += pair_tile) {
      const std::int64_t keys = std::min(pair_tile, e.keys - j0);
      if (!block.meets(j0, j0 + keys)) continue;
      small_product({a.dy.p + i0 * a.dy.row, a.dy.row, a.dy.column}, a.v_columns + j0, a.gradients.f.k_row, ds,
                    pair_tile, block.rows, pair_tile, e.value_width, false);
      for (std::int64_t r0 = 0; r0 < block.rows; r0 += group) {
        const std::int64_t rows = std::min<std::int64_t>(group, block.rows - r0);
        bool any = false;
        for (std::int64_t r = r0; r < r0 + rows; ++r) any = any || block.seen[r].meets(j0, j0 + keys);
        any = any && sees(head, i0 + r0, j0);
        Real *p_rows = p + r0 * pair_tile, *d_rows = ds + r0 * pair_tile;
        if (!any) {
          std::fill_n(p_rows, rows * pair_tile, Real{0});
          continue;
        }
        keep_r<range, true>(a.gradients, i0 + r0, rows, j0, p_rows);
        const ScoreTile tile = head.tile(i0 + r0, rows, j0, pair_tile, pair_tile);
        add_total(a.total, rows, pair_tile, p_rows, pair_tile);
        head.finish_scores(tile, p_rows, before);
        for (std::int64_t g = 0; g < rows; ++g) {
          const std::int64_t i = i0 + r0 + g;
          Real *pr = p_rows + g * pair_tile, *dr = d_rows + g * pair_tile;
          fill_unseen(pr, j0, 0, pair_tile, block.seen[r0 + g], head.allowed(i), RunningSoftmax::nothing);
          if (head.options.dropout > 0) {
            head.dropout(i, j0, pair_tile, factors);
            for (std::int64_t c = 0; c < pair_tile; ++c) dr[c] *= factors[c];
          }
          for (std::int64_t c = 0; c < pair_tile; c += lanes) {
            const Simd weight = exponential(Simd::load_aligned(pr + c) - a.log_sums[i]);
            weight.store_aligned(pr + c);
            (weight * (Simd::load_aligned(dr + c) - a.delta[i])).store_aligned(dr + c);
          }
          if (head.options.dropout > 0)
            for (std::int64_t c = 0; c < pair_tile; ++c) pr[c] *= factors[c];
        }
        head.pull_gradients(tile, before, d_rows);
        if (head.changes_scores()) *a.sum += sum_of(tile, d_rows);
        add_gradients(a.gradients, r0, rows, j0, d_rows);
      }
      if (a.gathered.weights) {
        std::copy_n(p, keys, a.gathered.weights + j0);
        continue;
      }
      small_product({p, 1, pair_tile}, a.dy_rows.p + i0 * a.dy_rows.row, a.dy_rows.row, a.dv + j0 * v_width, v_width,
                    keys, v_width, block.rows, true);
    }
    a.gradients.end_rows(block.rows, dq + i0 * e.width);
  }
}

// Twice the keys, transposed: [B, Hk, D, k_row].
Tensor key_columns(const Tensor& keys, std::int64_t k_row) {
  const Op op("key_columns", {&keys});
  const std::int64_t heads = keys.shape[1], rows = keys.shape[2], width = keys.shape[3];
  const Tensor columns = op.output({keys.shape[0], heads, width, k_row});
  const auto each = [=](auto&& f) {
    for (std::int64_t b = 0; b < keys.shape[0]; ++b)
      for (std::int64_t h = 0; h < heads; ++h) f(b, h, (b * heads + h) * width * k_row);
  };
  each([&](std::int64_t b, std::int64_t h, std::int64_t at) {
    pack_columns(head_of(keys, keys.data, b, h), rows, width, 2, columns.data + at, k_row);
  });
  op.record(columns, [=] {
    Tape& t = *columns.tape;
    const Real* d = t.grad(columns);
    const GradTarget dk = t.grad_target(keys);
    Tape::Scratch scratch(t);
    const std::int64_t padded = whole_vectors(width);
    Real* by_rows = scratch.take<Real>(rows * padded);
    each([&](std::int64_t b, std::int64_t h, std::int64_t at) {
      pack_columns({d + at, k_row, 1}, width, rows, 1, by_rows, padded);
      if (dk) put_rows(by_rows, padded, rows, width, 1, head_of(keys, dk, b, h));
    });
  });
  return columns;
}

} // namespace

const PackedMemory* pack_memory(const AdditiveForm& form, const Tensor& v) {
  const Tensor& k = form.keys;
  // With packing, the key gradients would be added at the very end, after all value gradients. If keys and values share
  // memory, this would change the order of summation, so nothing is packed.
  if (k.slot == v.slot) return nullptr;
  Tape& tape = *k.tape;
  const std::int64_t heads = k.shape[0] * k.shape[1], keys = k.shape[2], width = k.shape[3], k_row = padded_keys(keys);
  auto* m = new (tape.keep<PackedMemory>(1)) PackedMemory;
  m->key_columns = key_columns(k, k_row);
  auto* exponentials = tape.keep<Real>(heads * width * k_row);
  auto* of_keys = tape.keep<Real>(heads * 2 * width);
  auto* of_values = tape.recording() ? tape.keep<Real>(heads * v.shape[3] * k_row) : nullptr;
  fill_exponentials(m->key_columns.data, exponentials, heads * width * k_row);
  for (std::int64_t n = 0; n < heads; ++n) {
    const std::int64_t b = n / k.shape[1], h = n % k.shape[1];
    bounds(head_of(k, k.data, b, h), keys, width, of_keys + n * 2 * width, of_keys + (2 * n + 1) * width);
    if (of_values)
      pack_columns(head_of(v, v.data, b, h), keys, v.shape[3], 1, of_values + n * v.shape[3] * k_row, k_row);
  }
  m->key_exponentials = exponentials;
  m->key_bounds = of_keys;
  m->value_columns = of_values;
  m->gradients = MemoryGradients::make({}, v, 1, form.queries.shape[1]);
  return m;
}

Tensor attend_softmax(const AdditiveForm& form, const Tensor& v, const StreamingOptions& options) {
  const PackedMemory* packed = form.matrices.query.tape ? nullptr : options.memory;
  Op op("attend_additive", {&form.queries, packed ? &packed->key_columns : &form.keys, &form.weights, &v}, Counts::yes);
  const Operands x(op, form, v);
  op.require_grad(x.requires_grad() || further_gradients(options));
  const Extents e = x.e;
  Tape& tape = op.tape();
  const std::int64_t v_width = whole_vectors(e.value_width);
  const Tensor merged = op.output({e.batch, e.queries, e.heads, e.value_width});
  const Tensor y = transpose(merged, 1, 2);
  Real* log_sums = tape.keep<Real>(e.batch * e.heads * e.queries);
  const double operations = x.operations(options.mask);
  count_operations(operations + x.projections());
  {
    Tape::Scratch scratch(tape);
    begin(options, tape, scratch, false);
    const int threads = packed ? 1 : threads_for_heads(e, options, operations, false);
    auto* const rooms = rooms_of<ForwardRoom>(threads, scratch, scratch, x, packed != nullptr);
    each_head(e, options, threads, [&](int thread, std::int64_t b, std::int64_t h, std::int64_t kh) {
      const UncountedOperations uncounted;
      auto& [room, v_scratch, sums] = rooms[thread];
      const HeadProblem head{e, options, b, h};
      prepare(x.queries.head(b, h, h, room.q), x.keys.head(b, kh, h, room.k), e, room, {packed, e, x.k_row, b, kh});
      const WholeScores scores{{room.factors, x.weights(h)}, lacking(head, x.weights(h))};
      Real* head_sums = log_sums + (b * e.heads + h) * e.queries;
      const PackedRows v_rows = pack_rows(head_of(v, v.data, b, kh), e.keys, e.value_width, v_scratch);
      stream_forward(head, scores, v_rows, sums, y.data + b * y.stride[0] + h * y.stride[1], y.stride[2], head_sums);
      if (options.weights) softmax_weights(head, scores, head_sums);
    });
  }

  op.record(merged, [=] {
    Tape& t = *merged.tape;
    count_operations(2 * operations);
    const Real* dy = t.grad(merged);
    Tape::Scratch scratch(t);
    begin(options, t, scratch, true);
    MemoryGradients* later = MemoryGradients::for_call(packed, e.queries);
    const auto [dq, dk, dv] = later ? std::array{t.grad_target(x.form.queries), t.grad_target(packed->key_columns),
                                                 GradTarget{}}
                                    : t.grad_targets({x.form.queries, packed ? packed->key_columns : x.form.keys, v});
    const Gradients to(t, x, dq, dk, packed, later);
    const int threads = !packed && each_written_once({dq, dk, dv})
                            ? threads_for_heads(e, options, 2.5 * operations, true, Division::heads)
                            : 1;
    auto* const rooms = rooms_of<BackwardRoom>(threads, scratch, scratch, x, to, packed != nullptr);
    const auto one_head = [&, dv = dv](int thread, std::int64_t b, std::int64_t h, std::int64_t kh) {
      const UncountedOperations uncounted;
      auto& [room, gradients, own_values, dy_scratch, delta, dv_rows, dk_rows] = rooms[thread];
      prepare(x.queries.head(b, h, h, room.q), x.keys.head(b, kh, h, room.k), e, room, {packed, e, x.k_row, b, kh});
      gradients.begin(x.weights(h), to.columns_of_one_query(x, b, h));
      if (!packed) pack_columns(head_of(v, v.data, b, kh), e.keys, e.value_width, 1, own_values, x.k_row);
      const HeadProblem head{e, options, b, h};
      Real sum = 0;
      Backward a{gradients,
                 head_of(y, dy, b, h),
                 {},
                 packed ? packed->value_columns + (b * e.key_heads + kh) * e.value_width * x.k_row : own_values,
                 log_sums + (b * e.heads + h) * e.queries,
                 delta,
                 dv_rows,
                 lacking(head, x.weights(h)),
                 &sum,
                 {}};
      a.dy_rows = pack_rows(a.dy, e.queries, e.value_width, dy_scratch);
      row_deltas(head_of(y, y.data, b, h), a.dy, e.queries, e.value_width, delta);
      if (later) a.gathered = later->share(head, nullptr, a.dy_rows.p);
      else std::fill_n(dv_rows, x.k_row * v_width, Real{0});
      switch (room.factors.range) {
        case Range::product: backward<Range::product>(head, a, room.q); break;
        case Range::cut_product: backward<Range::cut_product>(head, a, room.q); break;
        case Range::mixed: backward<Range::mixed>(head, a, room.q); break;
      }
      if (dv) put_rows(dv_rows, v_width, e.keys, e.value_width, 1, key_head_of(v, dv, e, b, h));
      to.put(x, gradients, room.q, dk_rows, b, h, sum);
    };
    each_head(e, options, threads, one_head, Division::heads);
    end_backward(options, t);
    if (later) later->end();
  });
  return y;
}

} // namespace heed::HEED_REAL
