#include "autograd/kernels/gumbel.hpp"
#include "autograd/kernels/dot_product_scores.hpp"
#include "autograd/kernels/additive_scores.hpp"
#include "autograd/kernels/seen.hpp"
#include "autograd/operation_count.hpp"

#include <numeric>
#include <optional>

namespace heed::HEED_REAL {

namespace {

// Scores (or weights) of a few queries with all keys. The number of queries is chosen so that their rows fit the
// second-level cache.
struct Strip {
  std::int64_t queries, row;

  explicit Strip(const Extents& e) : queries(row_block), row(whole_tiles(e.keys)) {
    constexpr std::int64_t most_numbers = 1 << 17;
    while (queries > strip_rows && queries * row > most_numbers) queries /= 2;
  }
  std::int64_t size() const { return queries * row; }
};

// A block of queries and the tiles of keys that it sees. Column 0 of its strip is key `origin`.
struct StripView : BlockView {
  std::int64_t origin, keys;

  StripView(const HeadProblem& head, std::int64_t begin, const Strip& strip)
      : BlockView(head, begin, strip.queries), origin(first / key_tile * key_tile),
        keys(std::max<std::int64_t>(last - origin, 0)) {}

  // `formula_allows` is the strip of the formula's mask; null if the formula has no mask.
  Seen seen_by(const HeadProblem& head, std::int64_t r, const std::uint8_t* formula_allows, std::int64_t row) const {
    const Mask::Range& s = seen[r];
    const std::uint8_t* allowed = head.allowed(i0 + r);
    if (s.begin >= s.end) return {{0, 0}, nullptr};
    const Mask::Range here{s.begin - origin, s.end - origin, std::max<std::int64_t>(s.prefix - origin, 0), s.step};
    if (formula_allows) return {here, formula_allows + r * row};
    return {here, allowed ? allowed + origin : nullptr};
  }
};

// The operands of dot-product attention. The classes Inner and Pairwise below compute scores and gradients of one form,
// head by head.
struct DotProductOperands {
  DotProductForm form;
  Extents e;

  DotProductOperands(const Op& op, const DotProductForm& f, const Tensor& v)
      : form(f), e(inner_extents(op, f.queries, f.keys, v)) {}
  bool requires_grad() const { return form.queries.slot->requires_grad || form.keys.slot->requires_grad; }
  double operations(const Mask& mask) const {
    return 2 * seen_pairs(e, mask) * static_cast<double>(e.width + e.value_width);
  }
  double operations_anew() const { return 0; }
};

class Inner {
public:
  Inner(const DotProductOperands& x, Tape::Scratch& scratch)
      : x_(x), e_(x.e), k_tiles_(scratch.take<Real>(e_.width * whole_tiles(e_.keys))) {}

  void begin(std::int64_t b, std::int64_t h, std::int64_t kh) {
    scores_ = {head_of(x_.form.queries, x_.form.queries.data, b, h), k_tiles_, e_.width};
    pack_tiles(head_of(x_.form.keys, x_.form.keys.data, b, kh), e_.keys, e_.width, x_.form.factor, k_tiles_);
  }
  void scores(std::int64_t i, std::int64_t rows, std::int64_t j0, const Columns& c, Real* tile,
              std::int64_t row) const {
    scores_(i, rows, j0, c, tile, row);
  }

  void take_for_backward(Tape&, Tape::Scratch& scratch, const GradTarget& dq, const GradTarget& dk) {
    to_q_ = dq;
    to_k_ = dk;
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
    if (to_k_) put_rows(dk_, width(), e_.keys, e_.width, factor, key_head_of(x_.form.keys, to_k_, e_, b, h));
    if (to_q_) put_rows(dq_, width(), e_.queries, e_.width, factor, head_of(x_.form.queries, to_q_, b, h));
  }

private:
  std::int64_t width() const { return whole_vectors(e_.width); }

  const DotProductOperands& x_;
  const Extents& e_;
  Real* k_tiles_;
  DotProductScores scores_{};
  GradTarget to_q_, to_k_;
  Real *q_scratch_ = nullptr, *k_scratch_ = nullptr, *dq_ = nullptr, *dk_ = nullptr;
  PackedRows q_rows_{}, k_rows_{};
};

class Pairwise {
public:
  Pairwise(const pairwise::Operands& x, Tape::Scratch& scratch) : x_(x), room_(scratch, x.e, x.k_row) {
    x.count_projections();
  }

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

  void take_for_backward(Tape& tape, Tape::Scratch& scratch, const GradTarget& dq, const GradTarget& dk) {
    to_.emplace(tape, scratch, x_, dq, dk);
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
  void put(std::int64_t b, std::int64_t h) const { to_->put(x_, *gradients_, room_.q, b, h, sum_); }

private:
  template <pairwise::Range range> void add(const StripView& block, const Real* ds, std::int64_t row) {
    using pairwise::group, pairwise::pair_tile;
    alignas(64) Real some[group * pair_tile], unused[group * pair_tile];
    gradients_->begin_rows(block.rows);
    for (std::int64_t c = 0; c < block.keys; c += pair_tile)
      for (std::int64_t r0 = 0; r0 < block.rows; r0 += group) {
        const std::int64_t rows = std::min<std::int64_t>(group, block.rows - r0),
                           keys = std::min(pair_tile, block.keys - c);
        bool any = false;
        std::fill_n(some, group * pair_tile, Real{0});
        for (std::int64_t g = 0; g < rows; ++g)
          for (std::int64_t k = 0; k < keys; ++k) {
            const Real d = ds[(r0 + g) * row + c + k];
            some[g * pair_tile + k] = d;
            any = any || d != 0;
            sum_ += d;
          }
        if (!any) continue;
        keep_r<range>(*gradients_, block.i0 + r0, rows, block.origin + c, unused);
        pairwise::add_gradients(*gradients_, r0, rows, block.origin + c, some);
      }
    gradients_->end_rows(block.rows, room_.q + block.i0 * x_.e.width);
  }

  const pairwise::Operands& x_;
  pairwise::FactorsRoom room_;
  std::optional<pairwise::Gradients> to_;
  std::optional<pairwise::AdditiveGradients> gradients_;
  const Real* w_ = nullptr;
  Real total_ = 0; // the sum of w
  Real sum_ = 0;   // the sum of a head's ds
};

// Shared parts of the forward and backward pass: the finished scores of a block of queries, and their weights.
struct Rows {
  Strip strip;
  Real *s, *w;                    // strips of scores and of weights
  Real* gathered;                 // five rows for gathered visible values
  Real* before = nullptr;         // a strip of the scores before the formula, for the backward pass
  std::uint8_t* allows = nullptr; // a strip: the mask of the formula combined with the entries of the given mask

  Rows(Tape::Scratch& scratch, const Extents& e, const StreamingOptions& options, bool for_backward)
      : strip(e), s(scratch.take<Real>(strip.size())), w(scratch.take<Real>(strip.size())),
        gathered(scratch.take<Real>(5 * strip.row)) {
    if (!options.formula) return;
    if (for_backward && options.formula->wants_before()) before = scratch.take<Real>(strip.size());
    if (options.formula->masks()) allows = scratch.take<std::uint8_t>(strip.size());
  }
  Real* row(std::int64_t n) const { return gathered + n * strip.row; }

  // Calls f(tile, offset of the tile within a strip, visible columns) for every tile with at least one visible key.
  template <class F> void each_tile(const HeadProblem& head, const StripView& block, F&& f) const {
    for (std::int64_t c = 0; c < block.keys; c += key_tile)
      for (std::int64_t r0 = 0; r0 < block.rows; r0 += strip_rows) {
        const std::int64_t rows = std::min(strip_rows, block.rows - r0), j0 = block.origin + c;
        const Columns seen = seen_columns(head, block.seen + r0, block.i0 + r0, rows, j0);
        if (!seen.none())
          f(head.tile(block.i0 + r0, rows, j0 + seen.c0, seen.c1 - seen.c0, strip.row), r0 * strip.row + c, seen);
      }
  }
  template <class Form> void fill_scores(const HeadProblem& head, const StripView& block, const Form& form) const {
    if (allows) std::fill_n(allows, block.rows * strip.row, std::uint8_t{0});
    each_tile(head, block, [&](const ScoreTile& tile, std::int64_t at, const Columns& seen) {
      form.scores(tile.i, tile.queries, tile.j - seen.c0, seen, s + at, strip.row);
      head.finish_scores(tile, s + at + seen.c0, before ? before + at + seen.c0 : nullptr);
      if (head.options.noise) add_noise(head, tile, s + at + seen.c0);
      if (allows) fill_allows(head, tile, allows + at + seen.c0);
    });
  }
  void add_noise(const HeadProblem& head, const ScoreTile& tile, Real* to) const {
    const StreamingOptions::Noise& noise = *head.options.noise;
    alignas(64) Real numbers[key_tile];
    for (std::int64_t r = 0; r < tile.queries; ++r) {
      gumbel_numbers(noise.key, noise.first + static_cast<std::uint64_t>(head.number(tile.i + r, tile.j)), tile.keys,
                     numbers);
      for (std::int64_t c = 0; c < tile.keys; ++c) to[r * tile.row + c] += numbers[c];
    }
  }
  void fill_allows(const HeadProblem& head, const ScoreTile& tile, std::uint8_t* to) const {
    for (std::int64_t r = 0; r < tile.queries; ++r) {
      const std::uint8_t* entries = head.allowed(tile.i + r);
      if (entries) std::copy_n(entries + tile.j, tile.keys, to + r * tile.row);
      else std::fill_n(to + r * tile.row, tile.keys, std::uint8_t{1});
    }
    head.options.formula->hide(tile, to);
  }
  // Converts the gradients in s from finished scores to raw scores. s is 0 for masked pairs.
  void pull_gradients(const HeadProblem& head, const StripView& block) const {
    if (head.changes_scores())
      each_tile(head, block, [&](ScoreTile tile, std::int64_t at, const Columns& seen) {
        tile.keys = std::min(tile.keys, block.origin + block.keys - tile.j); // s has no elements beyond
        head.options.formula->pull(tile, before ? before + at + seen.c0 : nullptr, s + at + seen.c0);
      });
    if (head.options.bias)
      head.options.bias->add_gradients(head.tile(block.i0, block.rows, block.origin, block.keys, strip.row), s);
  }
  Seen seen_by(const HeadProblem& head, const StripView& block, std::int64_t r) const {
    return block.seen_by(head, r, allows, strip.row);
  }
  // `values` are the rules' values of all rows: written in the forward pass, read if `again`.
  void fill_weights(const HeadProblem& head, const StripView& block, const RowPolicy& policy, Real* values,
                    bool again) const {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      const Seen seen = seen_by(head, block, r);
      const std::int64_t n = seen.count();
      Real* const to = seen.place(w + r * strip.row, row(1));
      Real& value = values[(head.b * head.e.heads + head.h) * head.e.queries + block.i0 + r];
      if (n > 0 && again) policy.weights_from(value, seen.gather(s + r * strip.row, row(0)), to, n, row(2));
      else if (n > 0) policy.weights_and_value(seen.gather(s + r * strip.row, row(0)), to, n, row(2), value);
      seen.scatter(to, w + r * strip.row, block.keys, true);
    }
  }
  // Multiplies a strip of values by the dropout factors.
  void drop(const HeadProblem& head, const StripView& block, Real* numbers) const {
    if (head.options.dropout <= 0) return;
    for (std::int64_t r = 0; r < block.rows; ++r) {
      head.dropout(block.i0 + r, block.origin, block.keys, row(0));
      for (std::int64_t c = 0; c < block.keys; ++c) numbers[r * strip.row + c] *= row(0)[c];
    }
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
  {
    Tape::Scratch scratch(tape);
    begin(options, tape, scratch, false);
    Form here(x, scratch);
    const Rows rows(scratch, e, options, false);
    Real* v_scratch = scratch.take<Real>(e.keys * v_width);
    Real* sums = scratch.take<Real>(row_block * v_width);
    each_head(e, options, [&](std::int64_t b, std::int64_t h, std::int64_t kh) {
      const HeadProblem head{e, options, b, h};
      here.begin(b, h, kh);
      const PackedRows v_rows = pack_rows(head_of(v, v.data, b, kh), e.keys, e.value_width, v_scratch);
      for (std::int64_t i0 = 0; i0 < e.queries; i0 += rows.strip.queries) {
        const StripView block(head, i0, rows.strip);
        rows.fill_scores(head, block, here);
        rows.fill_weights(head, block, rules->of_head(h), values, false);
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
  const double operations = x.operations(options.mask);
  count_operations(operations);

  op.record(merged, [=] {
    Tape& t = *merged.tape;
    count_operations(2 * operations - x.operations_anew());
    const Real* dy_values = t.grad(merged);
    Tape::Scratch scratch(t);
    begin(options, t, scratch, true);
    const auto [dq, dk, dv] = t.grad_targets({x.form.queries, x.form.keys, v});
    Form here(x, scratch);
    here.take_for_backward(t, scratch, dq, dk);
    const Rows rows(scratch, e, options, true);
    Real* g = scratch.take<Real>(rows.strip.size());
    Real* v_tiles = scratch.take<Real>(e.value_width * whole_tiles(e.keys));
    Real* dy_scratch = scratch.take<Real>(e.queries * v_width);
    Real* dv_rows = scratch.take<Real>(whole_tiles(e.keys) * v_width);
    rules->begin_backward();
    each_head(e, options, [&, dv = dv](std::int64_t b, std::int64_t h, std::int64_t kh) {
      const HeadProblem head{e, options, b, h};
      const RowPolicy& policy = rules->of_head(h);
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
        rows.fill_weights(head, block, policy, values, true);
        for (std::int64_t c = 0; c < block.keys; c += key_tile)
          small_product(dy.from(i0), v_tiles + (block.origin + c) * e.value_width, key_tile, g + c, rows.strip.row,
                        block.rows, whole_vectors(std::min(key_tile, block.keys - c)), e.value_width, false);
        rows.drop(head, block, g);
        for (std::int64_t r = 0; r < block.rows; ++r) {
          const Seen seen = rows.seen_by(head, block, r);
          const std::int64_t n = seen.count(), at = r * rows.strip.row;
          if (n > 0)
            policy.backward(seen.gather(rows.s + at, rows.row(0)), seen.gather(rows.w + at, rows.row(1)),
                            seen.gather(g + at, rows.row(2)), rows.row(3), n, rows.row(4));
          seen.scatter(rows.row(3), rows.s + at, block.keys, true);
        }
        rows.drop(head, block, rows.w);
        small_product({rows.w, 1, rows.strip.row}, dy_rows.p + i0 * dy_rows.row, dy_rows.row,
                      dv_rows + block.origin * v_width, v_width, block.keys, v_width, block.rows, true);
        rows.pull_gradients(head, block);
        here.add_gradients(block, rows.s, rows.strip.row);
      }
      here.put(b, h);
      if (dv) put_rows(dv_rows, v_width, e.keys, e.value_width, 1, key_head_of(v, dv, e, b, h));
    });
    rules->end_backward(t);
  });
  return y;
}

} // namespace

Tensor attend_rows(const DotProductForm& form, const Tensor& v, const RowRules& rules,
                   const StreamingOptions& options) {
  Op op("attend_rows", {&form.queries, &form.keys, &v}, Counts::yes);
  return attend<Inner>(op, DotProductOperands(op, form, v), v, rules, options);
}

Tensor attend_rows(const AdditiveForm& form, const Tensor& v, const RowRules& rules, const StreamingOptions& options) {
  Op op("attend_rows", {&form.queries, &form.keys, &form.weights, &v}, Counts::yes);
  return attend<Pairwise>(op, pairwise::Operands(op, form, v), v, rules, options);
}

} // namespace heed::HEED_REAL
