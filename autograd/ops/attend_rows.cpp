#include "autograd/kernels/distance_scores.hpp"
#include "autograd/kernels/additive_operands.hpp"
#include "autograd/kernels/score_rows.hpp"
#include "autograd/normalize.hpp"
#include "autograd/operation_count.hpp"

#include <numeric>
#include <optional>
#include <type_traits>

namespace heed::HEED_REAL {

namespace {

// The operands of a form with queries and keys only. The classes DotProductRows, DistanceRows and AdditiveRows below
// compute scores and gradients of one form, head by head.
template <class F> struct OperandsOf {
  F form;
  Extents e;

  OperandsOf(const Op& op, const F& f, const Tensor& v) : form(f), e(inner_extents(op, f.queries, f.keys, v)) {}
  bool requires_grad() const { return form.queries.slot->requires_grad || form.keys.slot->requires_grad; }
  // A dot product costs a multiplication and an addition for each dimension. A distance costs a subtraction, an
  // absolute value and an addition.
  double operations(const Mask& mask) const {
    constexpr int of_score = std::is_same_v<F, DistanceForm> ? 3 : 2;
    return seen_pairs(e, mask) * static_cast<double>(of_score * e.width + 2 * e.value_width);
  }
  double projections() const { return 0; }
};

// Where the gradients of queries and keys go.
struct Targets {
  GradTarget q, k;

  template <class F> Targets(Tape&, const OperandsOf<F>&, const GradTarget& dq, const GradTarget& dk) : q(dq), k(dk) {}
};

class DotProductRows {
public:
  using To = Targets;
  static constexpr Division backward_division = Division::entries_and_heads;

  DotProductRows(const OperandsOf<DotProductForm>& x, Tape::Scratch& scratch)
      : x_(x), e_(x.e), k_tiles_(scratch.take<Real>(e_.width * whole_tiles(e_.keys))) {}

  void begin(std::int64_t b, std::int64_t h, std::int64_t kh) {
    scores_ = {head_of(x_.form.queries, x_.form.queries.data, b, h), k_tiles_, e_.width};
    pack_tiles(head_of(x_.form.keys, x_.form.keys.data, b, kh), e_.keys, e_.width, x_.form.factor, k_tiles_);
  }
  void scores(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
              std::int64_t row) const {
    scores_(i, rows, j0, c, tile, row);
  }

  void take_for_backward(Tape::Scratch& scratch, const To& to) {
    to_ = &to;
    q_scratch_ = scratch.take<Real>(e_.queries * width());
    k_scratch_ = scratch.take<Real>(e_.keys * width());
    dq_ = scratch.take<Real>(e_.queries * width());
    dk_ = scratch.take<Real>(e_.keys * width());
  }
  void begin_backward(std::int64_t b, std::int64_t kh) {
    q_rows_ = pack_rows(scores_.q, e_.queries, e_.width, q_scratch_);
    k_rows_ = pack_rows(head_of(x_.form.keys, x_.form.keys.data, b, kh), e_.keys, e_.width, k_scratch_);
    std::fill_n(dq_, e_.queries * width(), Real{0});
    std::fill_n(dk_, e_.keys * width(), Real{0});
  }
  void add_gradients(const StripView& block, const Real* ds, std::int64_t row) const {
    small_product({ds, 1, row}, q_rows_.p + block.i0 * q_rows_.row, q_rows_.row, dk_ + block.origin * width(), width(),
                  block.keys, width(), block.rows, true);
    small_product({ds, row, 1}, k_rows_.p + block.origin * k_rows_.row, k_rows_.row, dq_ + block.i0 * width(), width(),
                  block.rows, width(), block.keys, true);
  }
  void put(std::int64_t b, std::int64_t h) const {
    const Real factor = x_.form.factor;
    if (to_->k) put_rows(dk_, width(), e_.keys, e_.width, factor, key_head_of(x_.form.keys, to_->k, e_, b, h));
    if (to_->q) put_rows(dq_, width(), e_.queries, e_.width, factor, head_of(x_.form.queries, to_->q, b, h));
  }

private:
  std::int64_t width() const { return whole_vectors(e_.width); }

  const OperandsOf<DotProductForm>& x_;
  const Extents& e_;
  Real* k_tiles_;
  DotProductScores scores_{};
  const To* to_ = nullptr;
  Real *q_scratch_ = nullptr, *k_scratch_ = nullptr, *dq_ = nullptr, *dk_ = nullptr;
  PackedRows q_rows_{}, k_rows_{};
};

class DistanceRows {
public:
  using To = Targets;
  static constexpr Division backward_division = Division::entries_and_heads;

  DistanceRows(const OperandsOf<DistanceForm>& x, Tape::Scratch& scratch)
      : x_(x), k_tiles_(scratch.take<Real>(x.e.width * whole_tiles(x.e.keys))) {}

  void begin(std::int64_t b, std::int64_t h, std::int64_t kh) {
    scores_ = {head_of(x_.form.queries, x_.form.queries.data, b, h), k_tiles_, x_.e.width, x_.form.factor};
    pack_tiles(head_of(x_.form.keys, x_.form.keys.data, b, kh), x_.e.keys, x_.e.width, 1, k_tiles_);
  }
  void scores(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
              std::int64_t row) const {
    scores_(i, rows, j0, c, tile, row);
  }

  void take_for_backward(Tape::Scratch& scratch, const To& to) {
    to_ = &to;
    gradients_ = {scratch, x_.e};
    dq_ = scratch.take<Real>(x_.e.queries * x_.e.width);
  }
  void begin_backward(std::int64_t, std::int64_t) {
    gradients_.begin();
    std::fill_n(dq_, x_.e.queries * x_.e.width, Real{0});
  }
  void add_gradients(const StripView& block, const Real* ds, std::int64_t row) const {
    gradients_.add(scores_, block.i0, block.rows, block.origin, block.keys, ds, row, dq_ + block.i0 * x_.e.width);
  }
  void put(std::int64_t b, std::int64_t h) const {
    const Extents& e = x_.e;
    if (to_->k) gradients_.put_keys(x_.form.factor, key_head_of(x_.form.keys, to_->k, e, b, h));
    if (to_->q) put_rows(dq_, e.width, e.queries, e.width, -x_.form.factor, head_of(x_.form.queries, to_->q, b, h));
  }

private:
  const OperandsOf<DistanceForm>& x_;
  Real* k_tiles_;
  DistanceScores scores_{};
  const To* to_ = nullptr;
  DistanceGradients gradients_;
  Real* dq_ = nullptr; // [Tq, D]
};

class AdditiveRows {
public:
  using To = pairwise::Gradients;
  static constexpr Division backward_division = Division::heads; // the gradients of the weights are sums over the batch

  AdditiveRows(const pairwise::Operands& x, Tape::Scratch& scratch) : x_(x), room_(scratch, x.e, x.k_row) {}

  void begin(std::int64_t b, std::int64_t h, std::int64_t kh) {
    prepare(x_.queries.head(b, h, h, room_.q), x_.keys.head(b, kh, h, room_.k), x_.e, room_,
            {nullptr, x_.e, x_.k_row, b, kh});
    w_ = x_.weights(h);
    total_ = std::accumulate(w_, w_ + x_.e.width, Real{0});
  }
  void scores(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
              std::int64_t row) const {
    pairwise::AdditiveScores{room_.factors, w_}(i, rows, j0, c, tile, row);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = c.c0; k < c.c1; ++k) tile[r * row + k] += total_;
  }

  void take_for_backward(Tape::Scratch& scratch, const To& to) {
    to_ = &to;
    dk_rows_ = to.room(scratch, x_);
    gradients_.emplace(scratch, room_, x_.e);
  }
  void begin_backward(std::int64_t, std::int64_t) {
    gradients_->begin(w_);
    std::fill_n(room_.q, x_.e.queries * x_.e.width, Real{0});
    sum_ = 0;
  }
  void add_gradients(const StripView& block, const Real* ds, std::int64_t row) {
    using pairwise::Range;
    switch (room_.factors.range) {
      case Range::product: return add<Range::product>(block, ds, row);
      case Range::cut_product: return add<Range::cut_product>(block, ds, row);
      case Range::mixed: return add<Range::mixed>(block, ds, row);
    }
  }
  void put(std::int64_t b, std::int64_t h) const { to_->put(x_, *gradients_, room_.q, dk_rows_, b, h, sum_); }

private:
  template <pairwise::Range range> void add(const StripView& block, const Real* ds, std::int64_t row) {
    using pairwise::group, pairwise::pair_tile;
    alignas(64) Real some[group * pair_tile];
    gradients_->begin_rows(block.rows);
    for (std::int64_t c = 0; c < block.keys; c += pair_tile)
      for (std::int64_t r0 = 0; r0 < block.rows; r0 += group) {
        const std::int64_t rows = std::min<std::int64_t>(group, block.rows - r0),
                           keys = std::min(pair_tile, block.keys - c);
        Simd sum(Real{0});
        xsimd::batch_bool<Real> any(false);
        for (std::int64_t g = 0; g < rows; ++g)
          for (std::int64_t k = 0; k < pair_tile; k += lanes) {
            const auto n = static_cast<int>(std::clamp<std::int64_t>(keys - k, 0, lanes));
            const Simd d = load(ds + (r0 + g) * row + c + k, n);
            d.store_aligned(some + g * pair_tile + k);
            any = any || d != Simd(Real{0});
            sum += d;
          }
        if (!xsimd::any(any)) continue;
        sum_ += lane_sum(sum);
        keep_r<range, false>(*gradients_, block.i0 + r0, rows, block.origin + c, nullptr);
        pairwise::add_gradients(*gradients_, r0, rows, block.origin + c, some);
      }
    gradients_->end_rows(block.rows, room_.q + block.i0 * x_.e.width);
  }

  const pairwise::Operands& x_;
  pairwise::FactorsRoom room_;
  const To* to_ = nullptr;
  Real* dk_rows_ = nullptr;
  std::optional<pairwise::AdditiveGradients> gradients_;
  const Real* w_ = nullptr;
  Real total_ = 0; // the sum of w
  Real sum_ = 0;   // the sum of a head's ds
};

// What one thread needs for the heads that it has.
template <class Form> struct ForwardRoom {
  Form form;
  Rows rows;
  Real *v, *sums;

  template <class Operands>
  ForwardRoom(const Operands& x, Tape::Scratch& scratch, const StreamingOptions& options)
      : form(x, scratch), rows(scratch, x.e, options, false),
        v(scratch.take<Real>(x.e.keys * whole_vectors(x.e.value_width))),
        sums(scratch.take<Real>(row_block * whole_vectors(x.e.value_width))) {}
};
template <class Form> struct BackwardRoom {
  Form form;
  Rows rows;
  Real *grad_weights, *v_tiles, *dy, *dv;

  template <class Operands>
  BackwardRoom(const Operands& x, Tape::Scratch& scratch, const StreamingOptions& options, const typename Form::To& to)
      : form(x, scratch), rows(scratch, x.e, options, true) {
    const std::int64_t v_width = whole_vectors(x.e.value_width);
    form.take_for_backward(scratch, to);
    grad_weights = scratch.take<Real>(rows.strip.size());
    v_tiles = scratch.take<Real>(x.e.value_width * whole_tiles(x.e.keys));
    dy = scratch.take<Real>(x.e.queries * v_width);
    dv = scratch.take<Real>(whole_tiles(x.e.keys) * v_width);
  }
};
template <class Form, class Operands>
Tensor attend(Op& op, const Operands& x, const Tensor& v, const RowRules& given, const StreamingOptions& options) {
  op.require_grad(x.requires_grad() || further_gradients(options) || given.requires_grad());
  const Extents e = x.e;
  const RowRules* rules = &given;
  Tape& tape = op.tape();
  const std::int64_t v_width = whole_vectors(e.value_width);
  const Tensor merged = op.output({e.batch, e.queries, e.heads, e.value_width});
  const Tensor y = transpose(merged, 1, 2);
  Real* values = tape.keep<Real>(e.batch * e.heads * e.queries);
  if (options.weights) std::fill_n(options.weights, e.batch * e.heads * e.queries * e.keys, Real{0});
  const double operations = x.operations(options.mask);
  count_operations(operations + x.projections());
  {
    Tape::Scratch scratch(tape);
    begin(options, tape, scratch, false);
    const int threads = threads_for_heads(e, options, operations, false);
    auto* const rooms = rooms_of<ForwardRoom<Form>>(threads, scratch, x, scratch, options);
    each_head(e, options, threads, [&](int thread, std::int64_t b, std::int64_t h, std::int64_t kh) {
      const UncountedOperations uncounted;
      auto& [here, rows, v_scratch, sums] = rooms[thread];
      const HeadProblem head{e, options, b, h};
      here.begin(b, h, kh);
      const PackedRows v_rows = pack_rows(head_of(v, v.data, b, kh), e.keys, e.value_width, v_scratch);
      for (std::int64_t i0 = 0; i0 < e.queries; i0 += rows.strip.queries) {
        const StripView block(head, i0, rows.strip);
        rows.fill_scores(head, block, here);
        rows.fill_weights(head, block, rules->of_head(h), values);
        if (options.weights)
          for (std::int64_t r = 0; r < block.rows; ++r)
            std::copy_n(rows.w + r * rows.strip.row, block.keys, options.weights + head.number(i0 + r, block.origin));
        rows.drop(head, block, rows.w);
        small_product({rows.w, rows.strip.row, 1}, v_rows.p + block.origin * v_rows.row, v_rows.row, sums, v_width,
                      block.rows, v_width, block.keys, false);
        put_rows(sums, v_width, block.rows, e.value_width, 1,
                 {y.data + b * y.stride[0] + h * y.stride[1], y.stride[2], 1, true}, i0);
      }
    });
  }

  op.record(merged, [=] {
    Tape& t = *merged.tape;
    const Real* dy_values = t.grad(merged);
    count_operations(2 * operations);
    Tape::Scratch scratch(t);
    begin(options, t, scratch, true);
    const auto [dq, dk, dv] = t.grad_targets({x.form.queries, x.form.keys, v});
    const typename Form::To to(t, x, dq, dk);
    // The gradients of a head's own number are sums over the batch, too.
    const Division division = rules->requires_grad() ? Division::heads : Form::backward_division;
    const int threads = each_written_once({dq, dk, dv})
                            ? threads_for_heads(e, options, 2.5 * operations, true, division)
                            : 1;
    auto* const rooms = rooms_of<BackwardRoom<Form>>(threads, scratch, x, scratch, options, to);
    rules->begin_backward();
    const auto one_head = [&, dv = dv](int thread, std::int64_t b, std::int64_t h, std::int64_t kh) {
      const UncountedOperations uncounted;
      auto& [here, rows, g, v_tiles, dy_scratch, dv_rows] = rooms[thread];
      const HeadProblem head{e, options, b, h};
      const RowRule& policy = rules->of_head(h);
      here.begin(b, h, kh);
      here.begin_backward(b, kh);
      const Scattered dy = head_of(y, dy_values, b, h);
      const PackedRows dy_rows = pack_rows(dy, e.queries, e.value_width, dy_scratch);
      pack_tiles(head_of(v, v.data, b, kh), e.keys, e.value_width, 1, v_tiles);
      std::fill_n(dv_rows, whole_tiles(e.keys) * v_width, Real{0});
      for (std::int64_t i0 = 0; i0 < e.queries; i0 += rows.strip.queries) {
        const StripView block(head, i0, rows.strip);
        if (block.keys == 0) continue;
        rows.fill_scores(head, block, here);
        for (std::int64_t c = 0; c < block.keys; c += key_tile)
          small_product(dy.from(i0), v_tiles + (block.origin + c) * e.value_width, key_tile, g + c, rows.strip.row,
                        block.rows, whole_vectors(std::min(key_tile, block.keys - c)), e.value_width, false);
        rows.drop(head, block, g);
        rows.fill_weights_and_gradients(head, block, policy, values, g);
        rows.drop(head, block, rows.w);
        small_product({rows.w, 1, rows.strip.row}, dy_rows.p + i0 * dy_rows.row, dy_rows.row,
                      dv_rows + block.origin * v_width, v_width, block.keys, v_width, block.rows, true);
        rows.pull_gradients(head, block);
        here.add_gradients(block, rows.s, rows.strip.row);
      }
      here.put(b, h);
      if (dv) put_rows(dv_rows, v_width, e.keys, e.value_width, 1, key_head_of(v, dv, e, b, h));
    };
    each_head(e, options, threads, one_head, division);
    end_backward(options, t);
    rules->end_backward(t);
  });
  return y;
}

} // namespace

Tensor attend_rows(const DotProductForm& form, const Tensor& v, const RowRules& rules,
                   const StreamingOptions& options) {
  Op op("attend_rows", {&form.queries, &form.keys, &v}, Counts::yes);
  return attend<DotProductRows>(op, OperandsOf<DotProductForm>(op, form, v), v, rules, options);
}

Tensor attend_rows(const DistanceForm& form, const Tensor& v, const RowRules& rules, const StreamingOptions& options) {
  Op op("attend_rows", {&form.queries, &form.keys, &v}, Counts::yes);
  return attend<DistanceRows>(op, OperandsOf<DistanceForm>(op, form, v), v, rules, options);
}

Tensor attend_softmax(const DistanceForm& form, const Tensor& v, const StreamingOptions& options) {
  static const SoftmaxRule rows;
  return attend_rows(form, v, rows, options);
}

Tensor attend_rows(const AdditiveForm& form, const Tensor& v, const RowRules& rules, const StreamingOptions& options) {
  Op op("attend_rows", {&form.queries, &form.keys, &form.weights, &v}, Counts::yes);
  return attend<AdditiveRows>(op, pairwise::Operands(op, form, v), v, rules, options);
}

} // namespace heed::HEED_REAL
