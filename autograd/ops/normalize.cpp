#include "autograd/normalize.hpp"

#include "autograd/kernels/activations.hpp"
#include "autograd/kernels/exponential.hpp"
#include "autograd/kernels/seen.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

namespace {

bool has_nan(const Real* x, std::int64_t n) {
  std::int64_t nans = 0; // without a way out of the loop, so that it runs in vectors
  for (std::int64_t i = 0; i < n; ++i) nans += x[i] != x[i];
  return nans > 0;
}

void fill_nan(Real* y, std::int64_t n) { std::fill_n(y, n, std::numeric_limits<Real>::quiet_NaN()); }

} // namespace

Real row_largest(const Real* x, std::int64_t n) { return largest(x, n); }

Real row_exponentials(const Real* x, Real shift, Real* y, std::int64_t n) {
  map(n, [&](std::int64_t j, int m) { store(y + j, exponential(load(x + j, m) - shift), m); });
  return row_sum(y, n);
}

Real row_sum(const Real* x, std::int64_t n) {
  return sum_over(n, [&](std::int64_t j, int m) { return load(x + j, m); });
}

Real row_dot(const Real* x, const Real* y, std::int64_t n) {
  return sum_over(n, [&](std::int64_t j, int m) { return load(x + j, m) * load(y + j, m); });
}

bool row_is_lost(const Real* x, Real* y, std::int64_t n) {
  if (!has_nan(x, n) && !std::isinf(largest(x, n))) return false;
  fill_nan(y, n);
  return true;
}

void SparsemaxRows::weights(const Real* s, Real* w, std::int64_t n, Real* active) const {
  if (row_is_lost(s, w, n)) return;
  const Real top = largest(s, n);
  // Whatever lies 1 or more below the top has no weight. Of the rest, what lies below the threshold that it would
  // have together is left out, until nothing is.
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < n; ++j)
    if (s[j] - top > -1) active[count++] = s[j] - top;
  for (;;) {
    Real sum = 0;
    for (std::int64_t j = 0; j < count; ++j) sum += active[j];
    const Real threshold = (sum - 1) / static_cast<Real>(count);
    std::int64_t left = 0;
    for (std::int64_t j = 0; j < count; ++j)
      if (active[j] > threshold) active[left++] = active[j];
    if (left == count) {
      map(n,
          [&](std::int64_t j, int m) { store(w + j, xsimd::max(load(s + j, m) - top - threshold, Simd(Real{0})), m); });
      return;
    }
    count = left;
  }
}

void SparsemaxRows::slopes(const Real*, const Real* w, const Real* dw, Real* ds, std::int64_t n, Real*) const {
  const Simd zero(Real{0}), one(Real{1});
  const Real sum = sum_over(n, [&](std::int64_t j, int m) {
    return xsimd::select(load(w + j, m) != zero, load(dw + j, m), zero);
  });
  const Real count = sum_over(n,
                              [&](std::int64_t j, int m) { return xsimd::select(load(w + j, m) != zero, one, zero); });
  const Real mean = sum / count;
  map(n, [&](std::int64_t j, int m) {
    store(ds + j, xsimd::select(load(w + j, m) != zero, load(dw + j, m) - mean, zero), m);
  });
}

void SigmoidRows::weights(const Real* s, Real* w, std::int64_t n, Real*) const {
  const Real shift = bias_.value_or(-std::log(static_cast<Real>(n)));
  map(n, [&](std::int64_t j, int m) { store(w + j, logistic(load(s + j, m) + shift), m); });
}

void SigmoidRows::slopes(const Real*, const Real* w, const Real* dw, Real* ds, std::int64_t n, Real*) const {
  map(n, [&](std::int64_t j, int m) {
    const Simd v = load(w + j, m);
    store(ds + j, load(dw + j, m) * v * (Real{1} - v), m);
  });
}

void SumRows::weights(const Real* s, Real* w, std::int64_t n, Real*) const {
  if (row_is_lost(s, w, n)) return;
  for (std::int64_t j = 0; j < n; ++j) w[j] = std::max(s[j], Real{0});
  const Real total = row_sum(w, n);
  if (total > 0)
    for (std::int64_t j = 0; j < n; ++j) w[j] /= total;
}

void SumRows::slopes(const Real* s, const Real* w, const Real* dw, Real* ds, std::int64_t n, Real* positive) const {
  for (std::int64_t j = 0; j < n; ++j) positive[j] = std::max(s[j], Real{0});
  const Real total = row_sum(positive, n), along = row_dot(w, dw, n);
  for (std::int64_t j = 0; j < n; ++j) ds[j] = s[j] > 0 ? (dw[j] - along) / total : Real{0};
}

void HardmaxRows::weights(const Real* s, Real* w, std::int64_t n, Real*) const {
  if (has_nan(s, n)) return fill_nan(w, n);
  std::fill_n(w, n, Real{0});
  w[std::max_element(s, s + n) - s] = 1;
}

void HardmaxRows::slopes(const Real* s, const Real*, const Real* dw, Real* ds, std::int64_t n, Real* p) const {
  const Real top = largest(s, n);
  map(n, [&](std::int64_t j, int m) { store(p + j, exponential(load(s + j, m) - top), m); });
  const Real total = sum_over(n, [&](std::int64_t j, int m) { return load(p + j, m); });
  const Real along = sum_over(n, [&](std::int64_t j, int m) { return load(p + j, m) * load(dw + j, m); });
  const Real mean = along / total;
  map(n, [&](std::int64_t j, int m) { store(ds + j, load(p + j, m) * (load(dw + j, m) - mean) / total, m); });
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
  Real* scratch = op.tape().keep<Real>(5 * keys);
  const RowRules* rules = &given;
  const auto rule = [=](std::int64_t r) -> const RowPolicy& { return rules->of_head(r / queries % heads); };
  for (std::int64_t r = 0, some = op.computed(rows); r < some; ++r) {
    const Seen s = seen(r);
    const std::int64_t n = s.count();
    if (n > 0) rule(r).weights(s.gather(x.data + r * keys, scratch), scratch + keys, n, scratch + 2 * keys);
    s.scatter(scratch + keys, y.data + r * keys, keys, true);
  }
  op.record(y, [=] {
    const Into d = y.tape->into(x);
    if (!d && !rules->requires_grad()) return;
    const Real* dy = y.tape->grad(y);
    rules->begin_slopes();
    for (std::int64_t r = 0; r < rows; ++r) {
      const Seen s = seen(r);
      const std::int64_t n = s.count(), at = r * keys;
      if (n > 0)
        rule(r).slopes(s.gather(x.data + at, scratch), s.gather(y.data + at, scratch + keys),
                       s.gather(dy + at, scratch + 2 * keys), scratch + 3 * keys, n, scratch + 4 * keys);
      if (d) s.scatter(scratch + 3 * keys, d.p + at, keys, d.first);
    }
    rules->end_slopes(*y.tape);
  });
  return y;
}

Tensor gumbel_noise(Tape& tape, const Shape& shape, const RandomKey& key, const Numbering& numbers) {
  const Tensor g = tape.make(shape);
  const std::int64_t n = shape.size();
  numbers.each_run(n, shape.rank ? shape[-1] : 1, [&](std::int64_t at, std::uint64_t first, std::int64_t count) {
    // One random block decides four elements; which four depends on their number alone.
    for (std::uint64_t i = first / 4 * 4, end = first + static_cast<std::uint64_t>(count); i < end; i += 4) {
      const RandomBlock bits = random_block(key, i / 4);
      for (std::uint64_t j = 0; j < 4; ++j)
        if (i + j >= first && i + j < end)
          // In (0, 1), both ends excluded, and exact in both precisions.
          g.data[at + static_cast<std::int64_t>(i + j - first)] = (static_cast<Real>(bits[j] >> 9) + Real(0.5)) *
                                                                  Real(0x1p-23);
    }
  });
  map(n, [&](std::int64_t i, int m) {
    const Simd u = load(g.data + i, m);
    store(g.data + i, -xsimd::log(-xsimd::log(u)), m);
  });
  return g;
}

} // namespace heed::HEED_REAL
