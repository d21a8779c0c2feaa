#include "autograd/kernels/exponential.hpp"
#include "autograd/ops.hpp"
#include "autograd/row_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

namespace {

struct Rows {
  std::int64_t count, width;
};

Rows rows(const Op& op, const Tensor& x) {
  op.check(x.rank() >= 1 && x.shape[-1] > 0, "x needs a last axis with an entry");
  return {x.size() / x.shape[-1], x.shape[-1]};
}

// y = softmax of the n values at x.
void softmax_row(const Real* x, Real* y, std::int64_t n) {
  const Real top = largest(x, n);
  Real total = 0;
  if (n >= lanes) {
    Simd sums(Real{0});
    std::int64_t i = 0;
    for (; i + lanes <= n; i += lanes) {
      const Simd e = exponential(load(x + i) - top);
      store(y + i, e);
      sums += e;
    }
    total = lane_sum(sums);
    for (; i < n; ++i) total += y[i] = std::exp(x[i] - top);
  } else {
    for (std::int64_t i = 0; i < n; ++i) total += y[i] = std::exp(x[i] - top);
  }
  const Real inverse = Real{1} / total;
  for (std::int64_t i = 0; i < n; ++i) y[i] *= inverse;
}

// dx = or += y (dy - sum y dy) for one row.
void softmax_row_gradient(const Real* y, const Real* dy, Real* dx, std::int64_t n, bool overwrite) {
  const Real along = sum_over(n, [&](std::int64_t i, int m) { return load(y + i, m) * load(dy + i, m); });
  map(n, [&](std::int64_t i, int m) { accumulate(dx + i, load(y + i, m) * (load(dy + i, m) - along), overwrite, m); });
}

} // namespace

Tensor softmax(const Tensor& input) {
  const Op op("softmax", {&input});
  const Tensor x = contiguous(input);
  const Rows r = rows(op, x);
  const Tensor y = op.output(x.shape);
  if (op.computes())
    for (std::int64_t i = 0; i < r.count; ++i) softmax_row(x.data + i * r.width, y.data + i * r.width, r.width);
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    for (std::int64_t i = 0; i < r.count; ++i) {
      const std::int64_t at = i * r.width;
      softmax_row_gradient(y.data + at, dy + at, d.p + at, r.width, d.overwrite);
    }
  });
  return y;
}

Tensor log_softmax(const Tensor& input) {
  const Op op("log_softmax", {&input});
  const Tensor x = contiguous(input);
  const Rows r = rows(op, x);
  const Tensor y = op.output(x.shape);
  for (std::int64_t i = 0, some = op.computed(r.count); i < some; ++i) {
    const Real* p = x.data + i * r.width;
    const Real top = largest(p, r.width);
    Real total = 0;
    for (std::int64_t k = 0; k < r.width; ++k) total += std::exp(p[k] - top);
    const Real normaliser = top + std::log(total);
    map(r.width, [&](std::int64_t k, int n) { store(y.data + i * r.width + k, load(p + k, n) - normaliser, n); });
  }
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    for (std::int64_t i = 0; i < r.count; ++i) {
      const std::int64_t at = i * r.width;
      const Real total = sum_over(r.width, [&](std::int64_t k, int n) { return load(dy + at + k, n); });
      map(r.width, [&](std::int64_t k, int n) {
        accumulate(d.p + at + k, load(dy + at + k, n) - exponential(load(y.data + at + k, n)) * total, d.overwrite, n);
      });
    }
  });
  return y;
}

Tensor masked_softmax(const Tensor& input, const Mask& mask) {
  const Op op("masked_softmax", {&input});
  op.check(input.rank() == 4, "x must be [B, H, Tq, Tk], it has {} axes", input.rank());
  const Tensor x = contiguous(input);
  const std::int64_t heads = x.shape[1], queries = x.shape[2], keys = x.shape[3],
                     count = x.size() / std::max<std::int64_t>(keys, 1);
  const Tensor y = op.output(x.shape);
  for (std::int64_t i = 0, some = op.computed(count); i < some; ++i) {
    const std::int64_t b = i / (heads * queries), h = i / queries % heads, q = i % queries;
    const Mask::Range seen = mask.range(b, q, keys);
    const std::uint8_t* allowed = mask.row(b, h, q, queries, keys);
    const Real* p = x.data + i * keys;
    Real* out = y.data + i * keys;
    const std::int64_t first = seen.first();
    std::fill_n(out, first, Real{0});
    std::fill(out + seen.end, out + keys, Real{0});
    if (seen.count() == 0) continue;
    if (!allowed && seen.in_one_piece()) {
      if (row_sees_nothing(p + first, seen.count())) std::fill_n(out + first, seen.count(), Real{0});
      else softmax_row(p + first, out + first, seen.count());
      continue;
    }
    const auto counts = [&](std::int64_t k) { return seen.has(k) && (!allowed || allowed[k]); };
    Real top = -std::numeric_limits<Real>::infinity();
    bool any = false;
    for (std::int64_t k = first; k < seen.end; ++k)
      if (counts(k)) {
        top = !any || p[k] > top || p[k] != p[k] ? p[k] : top;
        any = true;
      }
    if (top == -std::numeric_limits<Real>::infinity()) {
      any = false; // all weights are 0
      top = 0;
    }
    Real total = 0;
    for (std::int64_t k = first; k < seen.end; ++k) total += out[k] = counts(k) ? std::exp(p[k] - top) : Real{0};
    if (any)
      for (std::int64_t k = first; k < seen.end; ++k) out[k] /= total;
  }
  // A masked weight is zero, and so is its gradient, because the weight is a factor of the gradient.
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = i * keys;
      const Mask::Range seen = mask.range(i / (heads * queries), i % queries, keys);
      if (d.overwrite) {
        std::fill_n(d.p + at, seen.first(), Real{0});
        std::fill(d.p + at + seen.end, d.p + at + keys, Real{0});
      }
      const std::int64_t from = at + seen.first();
      softmax_row_gradient(y.data + from, dy + from, d.p + from, seen.end - seen.first(), d.overwrite);
    }
  });
  return y;
}

Tensor masked_fill(const Tensor& input, const std::uint8_t* where, Real value) {
  const Op op("masked_fill", {&input});
  const Tensor x = contiguous(input);
  const std::int64_t n = x.size();
  const std::uint8_t* filled = op.tape().keep_copy(where, n);
  const Tensor y = op.output(x.shape);
  if (op.computes())
    for (std::int64_t i = 0; i < n; ++i) y.data[i] = filled[i] ? value : x.data[i];
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    for (std::int64_t i = 0; i < n; ++i) accumulate(d.p[i], filled[i] ? Real{0} : dy[i], d.overwrite);
  });
  return y;
}

} // namespace heed::HEED_REAL
