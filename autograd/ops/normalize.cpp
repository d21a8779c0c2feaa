#include "autograd/normalize.hpp"

#include "autograd/kernels/activations.hpp"
#include "autograd/kernels/exponential.hpp"
#include "autograd/kernels/random_blocks.hpp"
#include "autograd/kernels/seen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

// The row's value is the largest score.
void SoftmaxRule::weights(const Real* s, Real* w, RowKeys keys, Real*, Real& top) const {
  top = row_largest(s, keys.n);
  if (top == -std::numeric_limits<Real>::infinity() && !row_has_nan(s, keys.n)) {
    std::fill_n(w, keys.n, Real{0});
    return;
  }
  const Real inverse = 1 / row_exponentials(s, top, w, keys.n);
  map(keys.n, [&](std::int64_t j, int m) { store(w + j, load(w + j, m) * inverse, m); });
}

void SoftmaxRule::backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const {
  const Real along = row_dot(w, dw, keys.n);
  map(keys.n, [&](std::int64_t j, int m) { store(ds + j, load(w + j, m) * (load(dw + j, m) - along), m); });
}

void SoftmaxRule::weights_and_backward(Real top, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                                       Real* scratch) const {
  if (top == -std::numeric_limits<Real>::infinity())
    return RowRule::weights_and_backward(top, s, w, dw, ds, keys, scratch);
  const Real inverse = 1 / row_exponentials(s, top, w, keys.n), along = row_scale_and_dot(inverse, w, dw, keys.n);
  map(keys.n, [&](std::int64_t j, int m) { store(ds + j, load(w + j, m) * (load(dw + j, m) - along), m); });
}

// Newton's method for the threshold. It starts at 1 below the largest score, where only the largest score has a weight
// (of 1). Each next threshold makes the weights of the scores above the last threshold sum to 1. The threshold rises
// and fewer scores remain at each step, until it no longer changes.
void SparsemaxRule::weights(const Real* s, Real* w, RowKeys keys, Real* x, Real&) const {
  if (row_is_lost(s, w, keys.n)) return;
  const Simd zero(Real{0}), one(Real{1});
  row_from_top(s, Real{1}, x, keys.n);
  Real threshold = -1;
  for (;;) {
    const auto [sum, count] = sums_over(whole_vectors(keys.n), [&](std::int64_t j, int, Simd& total, Simd& counted) {
      const Simd xs = load(x + j);
      const auto above = xs > Simd(threshold);
      total += xsimd::select(above, xs, zero);
      counted += xsimd::select(above, one, zero);
    });
    const Real next = (sum - 1) / count;
    if (!(next > threshold)) break;
    threshold = next;
  }
  map(keys.n, [&](std::int64_t j, int m) { store(w + j, xsimd::max(load(x + j, m) - threshold, zero), m); });
}

void SparsemaxRule::backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const {
  const Simd zero(Real{0}), one(Real{1});
  const auto [sum, count] = sums_over(keys.n, [&](std::int64_t j, int m, Simd& total, Simd& counted) {
    const auto has_weight = load(w + j, m) != zero;
    total += xsimd::select(has_weight, load(dw + j, m), zero);
    counted += xsimd::select(has_weight, one, zero);
  });
  const Real mean = sum / count;
  map(keys.n, [&](std::int64_t j, int m) {
    store(ds + j, xsimd::select(load(w + j, m) != zero, load(dw + j, m) - mean, zero), m);
  });
}

void SigmoidRule::weights(const Real* s, Real* w, RowKeys keys, Real*, Real&) const {
  const Real shift = bias_.value_or(-std::log(static_cast<Real>(keys.n))) + own_;
  map(keys.n, [&](std::int64_t j, int m) { store(w + j, logistic(load(s + j, m) + shift), m); });
}

void SigmoidRule::backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const {
  map(keys.n, [&](std::int64_t j, int m) {
    const Simd v = load(w + j, m);
    store(ds + j, load(dw + j, m) * v * (Real{1} - v), m);
  });
}

namespace {

// max(s_j, 0) / divisor.
void divide_positive(const Real* s, Real divisor, Real* w, std::int64_t n) {
  map(n, [&](std::int64_t j, int m) { store(w + j, xsimd::max(load(s + j, m), Simd(Real{0})) / divisor, m); });
}

} // namespace

// The row's value is the sum.
void SumRule::weights(const Real* s, Real* w, RowKeys keys, Real*, Real& total) const {
  if (row_is_lost(s, w, keys.n)) return;
  total = sum_over(keys.n, [&](std::int64_t j, int m) { return xsimd::max(load(s + j, m), Simd(Real{0})); });
  divide_positive(s, total > 0 ? total : Real{1}, w, keys.n);
}

void SumRule::backward(Real total, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const {
  const Real along = row_dot(w, dw, keys.n);
  const Simd zero(Real{0});
  map(keys.n, [&](std::int64_t j, int m) {
    store(ds + j, xsimd::select(load(s + j, m) > zero, (load(dw + j, m) - along) / total, zero), m);
  });
}

void SumRule::weights_and_backward(Real total, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                                   Real* scratch) const {
  if (!(total > 0)) return RowRule::weights_and_backward(total, s, w, dw, ds, keys, scratch);
  divide_positive(s, total, w, keys.n);
  backward(total, s, w, dw, ds, keys, scratch);
}

void HardmaxRule::weights(const Real* s, Real* w, RowKeys keys, Real*, Real&) const {
  if (row_has_nan(s, keys.n)) {
    std::fill_n(w, keys.n, std::numeric_limits<Real>::quiet_NaN());
    return;
  }
  std::fill_n(w, keys.n, Real{0});
  w[std::find(s, s + keys.n, largest(s, keys.n)) - s] = 1;
}

void HardmaxRule::backward(Real, const Real* s, const Real*, const Real* dw, Real* ds, RowKeys keys, Real* p) const {
  const Real top = largest(s, keys.n);
  map(keys.n, [&](std::int64_t j, int m) { store(p + j, exponential(load(s + j, m) - top), m); });
  const Real total = sum_over(keys.n, [&](std::int64_t j, int m) { return load(p + j, m); });
  const Real along = sum_over(keys.n, [&](std::int64_t j, int m) { return load(p + j, m) * load(dw + j, m); });
  const Real mean = along / total;
  map(keys.n, [&](std::int64_t j, int m) { store(ds + j, load(p + j, m) * (load(dw + j, m) - mean) / total, m); });
}

Tensor normalize_rows(const char* name, const Tensor& input, const Mask& mask, const RowRules& given) {
  Op op(name, {&input});
  op.require_grad(given.requires_grad());
  op.check(input.rank() == 4, "x must be [B, H, Tq, Tk], it has {} axes", input.rank());
  const Tensor x = contiguous(input), y = op.output(x.shape);
  const std::int64_t heads = x.shape[1], queries = x.shape[2], keys = x.shape[3];
  const std::int64_t rows = x.shape[0] * heads * queries;
  const auto seen = [=](std::int64_t r) {
    const std::int64_t b = r / (heads * queries), h = r / queries % heads, i = r % queries;
    return Seen{mask.range(b, i, keys), mask.row(b, h, i, queries, keys)};
  };
  const std::int64_t room = whole_vectors(keys);
  Real* scratch = op.tape().keep<Real>(6 * room);
  Real* values = op.tape().keep<Real>(rows);
  const RowRules* rules = &given;
  const auto rule = [=](std::int64_t r) -> const RowRule& { return rules->of_head(r / queries % heads); };
  const auto keys_of = [=, offset = mask.offset](const Seen& s, std::int64_t r) {
    return s.keys(rule(r), r % queries + offset);
  };
  for (std::int64_t r = 0, some = op.computed(rows); r < some; ++r) {
    const Seen s = seen(r);
    const RowKeys row = keys_of(s, r);
    values[r] = 0;
    rule(r).row_weights(s.gather(x.data + r * keys, scratch), scratch + room, row, scratch + 2 * room, values[r]);
    s.scatter(scratch + room, y.data + r * keys, keys, true);
  }
  op.record(y, [=] {
    const GradTarget d = y.tape->grad_target(x);
    if (!d && !rules->requires_grad()) return;
    const Real* dy = y.tape->grad(y);
    rules->begin_backward();
    for (std::int64_t r = 0; r < rows; ++r) {
      const Seen s = seen(r);
      const RowKeys row = keys_of(s, r);
      const std::int64_t at = r * keys;
      rule(r).row_backward(values[r], s.gather(x.data + at, scratch), s.gather(y.data + at, scratch + room),
                           s.gather(dy + at, scratch + 2 * room), scratch + 3 * room, row, scratch + 4 * room);
      if (d) s.scatter(scratch + 3 * room, d.p + at, keys, d.overwrite);
    }
    rules->end_backward(*y.tape);
  });
  return y;
}

Tensor gumbel_noise(Tape& tape, const Shape& shape, const RandomKey& key, const Numbering& numbers) {
  const Tensor g = tape.make(shape);
  const std::int64_t width = shape.rank && shape[-1] > 0 ? shape[-1] : 1;
  numbers.each_run(0, shape.size() / width, width, [&](std::int64_t at, std::uint64_t first, std::int64_t n) {
    gumbel_numbers(key, first, n, g.data + at);
  });
  return g;
}

} // namespace heed::HEED_REAL
