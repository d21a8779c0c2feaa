#include "autograd/score_formula.hpp"

#include "autograd/kernels/formula_operations.hpp"
#include "autograd/kernels/heads.hpp"
#include "autograd/ops.hpp"
#include "autograd/ops/score_formula_parts.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

struct ScoreFormula::Sink {
  Real* p;
  std::int64_t row;
  bool each, first;
};

namespace {

const Simd zero(Real{0});

template <class A, class F> void fill(const ScoreTile& t, Real* y, std::int64_t row, const A& a, F&& f) {
  for (std::int64_t r = 0; r < t.queries; ++r)
    if (a.each) map(t.keys, [&](std::int64_t c, int n) { store(y + r * row + c, f(load(a.p + r * a.row + c, n)), n); });
    else {
      const Simd v = f(Simd(a.p[r * a.row]));
      map(t.keys, [&](std::int64_t c, int n) { store(y + r * row + c, v, n); });
    }
}
template <class A, class F> void fill(const ScoreTile& t, Real* y, std::int64_t row, const A& a, const A& b, F&& f) {
  for (std::int64_t r = 0; r < t.queries; ++r) {
    Real* to = y + r * row;
    const Real *pa = a.p + r * a.row, *pb = b.p + r * b.row;
    if (a.each && b.each)
      map(t.keys, [&](std::int64_t c, int n) { store(to + c, f(load(pa + c, n), load(pb + c, n)), n); });
    else if (a.each)
      map(t.keys, [&, v = Simd(*pb)](std::int64_t c, int n) { store(to + c, f(load(pa + c, n), v), n); });
    else if (b.each)
      map(t.keys, [&, v = Simd(*pa)](std::int64_t c, int n) { store(to + c, f(v, load(pb + c, n)), n); });
    else map(t.keys, [&, v = f(Simd(*pa), Simd(*pb))](std::int64_t c, int n) { store(to + c, v, n); });
  }
}

std::int64_t place(Real number, std::int64_t size) {
  // NaN (like a negative number) selects the first element.
  return number >= 0 ? static_cast<std::int64_t>(std::min(std::floor(number), static_cast<Real>(size - 1))) : 0;
}

} // namespace

ScoreFormula::ScoreFormula(Tape& tape, const FormulaProgram& program, std::span<const Tensor> parameters,
                           const FormulaSizes& sizes)
    : program_(&program), parameters_(tape.keep_copy(parameters.data(), static_cast<std::int64_t>(parameters.size()))),
      sizes_(sizes) {
  if (program.score >= 0)
    for (const FormulaInstruction& x : program.instructions)
      requires_grad_ = requires_grad_ ||
                       (x.parameter >= 0 && x.differentiable && parameters_[x.parameter].slot->requires_grad);
  const auto n = static_cast<std::int64_t>(parameters.size());
  parameter_gradients_ = tape.keep<Real*>(n);
  std::fill_n(parameter_gradients_, n, nullptr);
  values_ = tape.keep<Real*>(count());
  gradients_ = tape.keep<Real*>(count());
  given_ = tape.keep<bool>(count());
  if (program.score >= 0) {
    const FormulaInstruction& root = at(program.score);
    const auto apart = [&](std::int32_t k) { return at(k).axis != FormulaAxis::pair || !at(k).differentiable; };
    const auto is_score = [&](std::int32_t k) { return at(k).op == FormulaOp::score; };
    adds_ = (root.op == FormulaOp::add && is_score(root.b) && apart(root.a)) ||
            ((root.op == FormulaOp::add || root.op == FormulaOp::subtract) && is_score(root.a) && apart(root.b));
  }
  if (!masks()) return;
  const std::int64_t strips = (sizes.queries + strip_rows - 1) / strip_rows,
                     tiles = (sizes.keys + key_tile - 1) / key_tile;
  views_ = tape.keep<View>(strips * tiles);
}

std::int64_t ScoreFormula::extent(FormulaAxis axis) const {
  switch (axis) {
    case FormulaAxis::head: return 1;
    case FormulaAxis::row: return sizes_.queries;
    case FormulaAxis::column: return sizes_.keys;
    case FormulaAxis::distance: return sizes_.queries + sizes_.keys - 1;
    case FormulaAxis::pair: break;
  }
  return strip_rows * key_tile;
}

void ScoreFormula::begin(Tape& tape, Tape::Scratch& scratch, bool for_backward) {
  for_backward_ = for_backward && changes_scores();
  fresh_ = true;
  applied_ = {};
  for (std::int32_t k = 0; k < count(); ++k) {
    const FormulaInstruction& x = at(k);
    const std::int64_t n = whole_vectors(extent(x.axis));
    const bool used = x.for_mask || x.for_score;
    values_[k] = used && x.op != FormulaOp::score ? scratch.take<Real>(n) : nullptr;
    gradients_[k] = used && for_backward_ && x.differentiable ? scratch.take<Real>(n) : nullptr;
  }
  const FormulaInstruction* mask = masks() ? &at(program_->mask) : nullptr;
  if (mask && mask->axis == FormulaAxis::distance) counts_ = scratch.take<std::int32_t>(extent(mask->axis) + 1);
  if (!for_backward_) return;
  std::int32_t parameters = 0;
  for (const FormulaInstruction& x : program_->instructions) parameters = std::max(parameters, x.parameter + 1);
  std::fill_n(parameter_gradients_, parameters, nullptr);
  for (const FormulaInstruction& x : program_->instructions)
    if (x.parameter >= 0 && x.differentiable && !parameter_gradients_[x.parameter])
      parameter_gradients_[x.parameter] = tape.grad_accumulator(parameters_[x.parameter]);
}

// Values that do not depend on pairs are computed as a tile with a single row.
void ScoreFormula::begin_head(std::int64_t b, std::int64_t h) {
  const bool next_entry = fresh_ || b != b_;
  b_ = b;
  h_ = h;
  applied_ = {};
  const bool anew = fresh_ || program_->by_head || (program_->by_entry && next_entry);
  for (std::int32_t k = 0; k < count(); ++k) {
    const FormulaAxis axis = at(k).axis;
    if (axis == FormulaAxis::pair || !values_[k]) continue;
    const std::int64_t n = extent(axis);
    const bool same = at(k).op == FormulaOp::seen && !fresh_ && !seen_by_head();
    if (anew && !same) compute(k, {b, h, 0, 1, 0, n, n}, nullptr, values_[k], n);
    if (gradients_[k]) std::fill_n(gradients_[k], n, Real{0});
  }
  if (masks() && (!looked_ || program_->mask_by_head || (program_->mask_by_entry && next_entry))) look();
  fresh_ = false;
}

void ScoreFormula::end_head() {
  if (!for_backward_) return;
  for (std::int32_t k = count() - 1; k >= 0; --k) {
    const FormulaAxis axis = at(k).axis;
    if (!gradients_[k] || axis == FormulaAxis::pair) continue;
    const std::int64_t n = extent(axis);
    pull_back(k, {b_, h_, 0, 1, 0, n, n}, nullptr, {gradients_[k], 0, true});
  }
}

ScoreFormula::Operand ScoreFormula::operand(std::int32_t k, FormulaAxis on, const ScoreTile& tile,
                                            const Real* scores) const {
  if (k < 0) return {};
  const FormulaInstruction& x = at(k);
  const Real* p = values_[k];
  if (x.axis == FormulaAxis::head) return {p, 0, false};
  if (on != FormulaAxis::pair) return {p, 0, true};
  switch (x.axis) {
    case FormulaAxis::row: return {p + tile.i, 1, false};
    case FormulaAxis::column: return {p + tile.j, 0, true};
    case FormulaAxis::distance: return {p + tile.j - tile.i + sizes_.queries - 1, -1, true};
    default: break;
  }
  if (x.op == FormulaOp::score) return {scores, tile.row, true};
  return {p, key_tile, true};
}

ScoreFormula::Sink ScoreFormula::sink(std::int32_t k, FormulaAxis on, const ScoreTile& tile) const {
  Real* p = gradients_[k];
  const FormulaAxis axis = at(k).axis;
  if (axis == FormulaAxis::head) return {p, 0, false, false};
  if (on != FormulaAxis::pair) return {p, 0, true, false};
  switch (axis) {
    case FormulaAxis::row: return {p + tile.i, 1, false, false};
    case FormulaAxis::column: return {p + tile.j, 0, true, false};
    case FormulaAxis::distance: return {p + tile.j - tile.i + sizes_.queries - 1, -1, true, false};
    default: return {p, key_tile, true, !given_[k]};
  }
}

// ---- forward --------------------------------------------------------------------------------------------------------

// The part of a parameter (or of its gradient) that belongs to the current head.
Real* ScoreFormula::list_of(std::int32_t parameter, Real* numbers) const {
  const Shape& s = parameters_[parameter].shape;
  return numbers + (s[0] == 1 ? 0 : h_) * s[1];
}

// Computes an instruction without operands (a source).
void ScoreFormula::read_source(const FormulaInstruction& x, Real* y) const {
  const auto whole = [](std::int64_t n) { return static_cast<Real>(n); };
  const auto unpadded = [&](std::int64_t n) {
    return whole(sizes_.mask.lengths ? std::min<std::int64_t>(n, sizes_.mask.lengths[b_]) : n);
  };
  const std::int64_t furthest = sizes_.queries - 1 + sizes_.mask.offset; // the lowest distance is -furthest
  switch (x.op) {
    case FormulaOp::number: *y = static_cast<Real>(x.number); return;
    case FormulaOp::batch: *y = whole(sizes_.sequences ? sizes_.sequences[b_] : sizes_.first_sequence + b_); return;
    case FormulaOp::head: *y = whole(h_); return;
    case FormulaOp::heads: *y = whole(sizes_.heads); return;
    case FormulaOp::width: *y = whole(sizes_.width); return;
    case FormulaOp::queries:
      *y = unpadded(sizes_.all_queries ? sizes_.all_queries : sizes_.mask.offset + sizes_.queries);
      return;
    case FormulaOp::keys: *y = unpadded(sizes_.all_keys ? sizes_.all_keys : sizes_.keys); return;
    case FormulaOp::seen: return count_seen(y);
    case FormulaOp::position: {
      const std::int64_t first = x.axis == FormulaAxis::row      ? sizes_.mask.offset
                                 : x.axis == FormulaAxis::column ? 0
                                                                 : -furthest;
      for (std::int64_t n = 0; n < extent(x.axis); ++n) y[n] = whole(first + n);
      return;
    }
    case FormulaOp::segment: {
      const bool of_queries = x.axis == FormulaAxis::row;
      const std::int32_t* from = of_queries ? sizes_.mask.query_segments.of(b_) + sizes_.mask.offset
                                            : sizes_.mask.key_segments.of(b_);
      for (std::int64_t n = 0; n < extent(x.axis); ++n) y[n] = whole(from[n]);
      return;
    }
    case FormulaOp::patch_row:
    case FormulaOp::patch_column: {
      const std::int64_t first = x.axis == FormulaAxis::row ? sizes_.mask.offset : 0;
      const auto in_row = static_cast<std::int64_t>(x.number);
      for (std::int64_t n = 0; n < extent(x.axis); ++n)
        y[n] = whole(x.op == FormulaOp::patch_row ? (first + n) / in_row : (first + n) % in_row);
      return;
    }
    case FormulaOp::parameter: *y = *list_of(x.parameter, parameters_[x.parameter].data); return;
    case FormulaOp::by_distance: {
      const Tensor& numbers = parameters_[x.parameter];
      const std::int64_t size = numbers.shape[1];
      const Real* all = list_of(x.parameter, numbers.data);
      for (std::int64_t n = 0; n < extent(x.axis); ++n)
        y[n] = all[std::clamp<std::int64_t>(n - furthest + size / 2, 0, size - 1)];
      return;
    }
    default: return;
  }
}

// `y` may be the scores' own memory: each value is read before it is overwritten. The result is multiplied by `factor`.
void ScoreFormula::compute(std::int32_t k, const ScoreTile& t, const Real* scores, Real* y, std::int64_t row,
                           Real factor) const {
  const FormulaInstruction& x = at(k);
  if (x.a < 0) return read_source(x, y);
  const Operand a = operand(x.a, x.axis, t, scores), b = operand(x.b, x.axis, t, scores);
  const Simd before(number_of(x.factor)), behind(factor);
  switch (x.op) {
    case FormulaOp::choice: {
      const Operand c = operand(x.c, x.axis, t, scores);
      for (std::int64_t r = 0; r < t.queries; ++r)
        map(t.keys, [&](std::int64_t at, int n) {
          store(y + r * row + at, xsimd::select(a(r, at, n) != zero, b(r, at, n), c(r, at, n)), n);
        });
      return;
    }
    case FormulaOp::element: {
      const Tensor& numbers = parameters_[x.parameter];
      const Real* all = list_of(x.parameter, numbers.data);
      for (std::int64_t r = 0; r < t.queries; ++r)
        for (std::int64_t c = 0; c < t.keys; ++c) y[r * row + c] = all[place(a.number(r, c), numbers.shape[1])];
      return;
    }
    default:
      formula_operations::with_row(x.op, [&]<class Row>(Row) {
        if constexpr (formula_operations::is_unary<Row>)
          fill(t, y, row, a, [&](const Simd& v) { return behind * Row::value(before * v); });
        else fill(t, y, row, a, b, [](const Simd& v, const Simd& w) { return Row::value(v, w); });
      });
  }
}

void ScoreFormula::compute_pairs(const ScoreTile& tile, const Real* scores, bool FormulaInstruction::*whose,
                                 std::int32_t but) const {
  for (std::int32_t k = 0; k < count(); ++k)
    if (k != but && at(k).axis == FormulaAxis::pair && at(k).*whose && values_[k])
      compute(k, tile, scores, values_[k], key_tile);
}

void ScoreFormula::apply(const ScoreTile& tile, Real* scores) {
  if (!changes_scores()) return;
  const std::int32_t k = program_->score;
  const FormulaInstruction& root = at(k);
  // In place, if no later step needs the values.
  const bool in_place = root.axis == FormulaAxis::pair && root.op != FormulaOp::score && (!for_backward_ || adds_);
  compute_pairs(tile, scores, &FormulaInstruction::for_score, in_place ? k : -1);
  if (in_place) return compute(k, tile, scores, scores, tile.row, number_of(program_->factor));
  const Operand y = operand(k, FormulaAxis::pair, tile, scores);
  applied_ = tile;
  if (y.p != scores)
    fill(tile, scores, tile.row, y, [w = Simd(number_of(program_->factor))](const Simd& v) { return w * v; });
}

void ScoreFormula::hide(const ScoreTile& tile, Real* scores, Real value) {
  if (!masks() || view(tile.i, tile.j).all) return;
  compute_pairs(tile, nullptr, &FormulaInstruction::for_mask);
  const Operand seen = operand(program_->mask, FormulaAxis::pair, tile, nullptr);
  for (std::int64_t r = 0; r < tile.queries; ++r)
    map(tile.keys, [&](std::int64_t c, int n) {
      Real* s = scores + r * tile.row + c;
      store(s, xsimd::select(seen(r, c, n) != zero, load(s, n), Simd(value)), n);
    });
}

void ScoreFormula::hide(const ScoreTile& tile, std::uint8_t* allowed) {
  if (!masks() || view(tile.i, tile.j).all) return;
  compute_pairs(tile, nullptr, &FormulaInstruction::for_mask);
  const Operand seen = operand(program_->mask, FormulaAxis::pair, tile, nullptr);
  for (std::int64_t r = 0; r < tile.queries; ++r)
    for (std::int64_t c = 0; c < tile.keys; ++c)
      if (seen.number(r, c) == 0) allowed[r * tile.row + c] = 0;
}

// ---- backward -------------------------------------------------------------------------------------------------------

// Adds dy times `derivative` to the gradient of an operand. If the operand does not vary along the keys, the sum over
// the keys is added.
template <class F> void ScoreFormula::give(std::int32_t to, FormulaAxis on, const ScoreTile& t, F&& derivative) {
  if (to < 0 || !gradients_[to]) return;
  const Sink s = sink(to, on, t);
  for (std::int64_t r = 0; r < t.queries; ++r) {
    Real* p = s.p + r * s.row;
    if (s.each) map(t.keys, [&](std::int64_t c, int n) { accumulate(p + c, derivative(r, c, n), s.first, n); });
    else *p += sum_over(t.keys, [&](std::int64_t c, int n) { return derivative(r, c, n); });
  }
  given_[to] = true;
}

// dy is multiplied by `factor`.
void ScoreFormula::pull_back(std::int32_t k, const ScoreTile& t, const Real* scores, const Operand& dy, Real factor) {
  const FormulaInstruction& x = at(k);
  if (x.parameter >= 0) {
    const Tensor& numbers = parameters_[x.parameter];
    if (!parameter_gradients_[x.parameter]) return;
    Real* all = list_of(x.parameter, parameter_gradients_[x.parameter]);
    const std::int64_t size = numbers.shape[1], furthest = sizes_.queries - 1 + sizes_.mask.offset;
    const Operand a = operand(x.a, x.axis, t, scores);
    for (std::int64_t r = 0; r < t.queries; ++r)
      for (std::int64_t c = 0; c < t.keys; ++c) {
        const std::int64_t which = x.op == FormulaOp::parameter ? 0
                                   : x.op == FormulaOp::element
                                       ? place(a.number(r, c), size)
                                       : std::clamp<std::int64_t>(c - furthest + size / 2, 0, size - 1);
        all[which] += dy.number(r, c);
      }
    return;
  }
  if (x.a < 0) return;
  const Operand first = operand(x.a, x.axis, t, scores), b = operand(x.b, x.axis, t, scores),
                y = operand(k, x.axis, t, scores);
  const Simd before(number_of(x.factor)), behind(factor);
  const auto a = [&](std::int64_t r, std::int64_t c, int n) { return before * first(r, c, n); };
  // A zero gradient stays zero, even if the derivative is infinite or NaN.
  const auto to = [&](std::int32_t o, auto&& derivative) {
    give(o, x.axis, t, [&](std::int64_t r, std::int64_t c, int n) {
      const Simd d = behind * dy(r, c, n);
      return xsimd::select(d == zero, zero, before * derivative(d, r, c, n));
    });
  };
  using I = std::int64_t;
  if (x.op == FormulaOp::choice) {
    to(x.b, [&](const Simd& d, I r, I c, int n) { return xsimd::select(a(r, c, n) != zero, d, zero); });
    return to(x.c, [&](const Simd& d, I r, I c, int n) { return xsimd::select(a(r, c, n) != zero, zero, d); });
  }
  formula_operations::with_row(x.op, [&]<class Row>(Row) {
    // Reads an operation's operands and result for one vector of pairs, when called.
    const auto at = [](const auto& values, I r, I c, int n) { return [&values, r, c, n] { return values(r, c, n); }; };
    if constexpr (!formula_operations::has_gradients<Row>) {
      return;
    } else if constexpr (formula_operations::is_unary<Row>) {
      to(x.a, [&](const Simd& d, I r, I c, int n) { return Row::by_a(d, at(a, r, c, n), at(y, r, c, n)); });
    } else {
      to(x.a,
         [&](const Simd& d, I r, I c, int n) { return Row::by_a(d, at(a, r, c, n), at(b, r, c, n), at(y, r, c, n)); });
      to(x.b,
         [&](const Simd& d, I r, I c, int n) { return Row::by_b(d, at(a, r, c, n), at(b, r, c, n), at(y, r, c, n)); });
    }
  });
}

void ScoreFormula::pull(const ScoreTile& tile, const Real* before, Real* grad_scores) {
  if (!changes_scores()) return;
  const std::int32_t k = program_->score;
  const FormulaInstruction& root = at(k);
  const Real factor = number_of(program_->factor);
  if (root.op == FormulaOp::score) return;
  const Operand seed{grad_scores, tile.row, true};
  if (adds_) {
    const std::int32_t other = at(root.a).op == FormulaOp::score ? root.b : root.a;
    const Simd sign(root.op == FormulaOp::add ? Real{1} : Real{-1});
    give(other, FormulaAxis::pair, tile, [&](std::int64_t r, std::int64_t c, int n) { return sign * seed(r, c, n); });
    return;
  }
  if (!(applied_ == tile)) compute_pairs(tile, before, &FormulaInstruction::for_score);
  applied_ = tile;
  std::fill_n(given_, count(), false);
  if (root.axis != FormulaAxis::pair)
    give(k, FormulaAxis::pair, tile,
         [&](std::int64_t r, std::int64_t c, int n) { return Simd(factor) * seed(r, c, n); });
  std::int32_t score = -1;
  for (std::int32_t n = k; n >= 0; --n) {
    const FormulaInstruction& x = at(n);
    if (x.op == FormulaOp::score) score = n;
    if (x.axis != FormulaAxis::pair || !gradients_[n]) continue;
    if (n == k) pull_back(n, tile, before, seed, factor);
    else if (given_[n]) pull_back(n, tile, before, {gradients_[n], key_tile, true});
  }
  if (score < 0 || !gradients_[score] || !given_[score]) {
    for (std::int64_t r = 0; r < tile.queries; ++r) std::fill_n(grad_scores + r * tile.row, tile.keys, Real{0});
    return;
  }
  fill(tile, grad_scores, tile.row, Operand{gradients_[score], key_tile, true}, [](const Simd& v) { return v; });
}

ScoreFormula* keep_formula(Tape& tape, const FormulaProgram& program, std::span<const Tensor> parameters,
                           const FormulaSizes& sizes) {
  static_assert(std::is_trivially_destructible_v<ScoreFormula>);
  return new (tape.keep<ScoreFormula>(1)) ScoreFormula(tape, program, parameters, sizes);
}

} // namespace heed::HEED_REAL
