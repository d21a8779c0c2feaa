#include "autograd/kernels/simd.hpp"
#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

namespace {

// The extents of a contiguous tensor before, along and after one axis: element (o, i, k) has the offset (o n + i) inner
// + k.
struct AxisExtents {
  std::int64_t outer = 1, n = 1, inner = 1;
};

AxisExtents extents_around(const Op& op, const Shape& shape, int& axis) {
  op.check(axis >= -shape.rank && axis < shape.rank, "there is no axis {} in a tensor of {} axes", axis, shape.rank);
  if (axis < 0) axis += shape.rank;
  AxisExtents a;
  for (int i = 0; i < axis; ++i) a.outer *= shape[i];
  a.n = shape[axis];
  for (int i = axis + 1; i < shape.rank; ++i) a.inner *= shape[i];
  return a;
}

Shape without_axis(const Shape& shape, int axis, bool keep) {
  Shape out;
  for (int i = 0; i < shape.rank; ++i) {
    if (i != axis) out.push_back(shape[i]);
    else if (keep) out.push_back(1);
  }
  return out;
}

Tensor weighted_sum(const char* name, const Tensor& input, int axis, bool keep, bool mean_of) {
  const Op op(name, {&input});
  const Tensor x = contiguous(input);
  const AxisExtents a = extents_around(op, x.shape, axis);
  op.check(!mean_of || a.n > 0, "the mean over an axis of 0 entries");
  const Real weight = mean_of ? Real{1} / static_cast<Real>(a.n) : Real{1};
  const Tensor y = op.output(without_axis(x.shape, axis, keep));
  for (std::int64_t o = 0, some = op.computed(a.outer); o < some; ++o) {
    const Real* p = x.data + o * a.n * a.inner;
    Real* q = y.data + o * a.inner;
    if (a.inner == 1) {
      *q = weight * sum_over(a.n, [&](std::int64_t i, int n) { return load(p + i, n); });
      continue;
    }
    map(a.inner, [&](std::int64_t k, int n) {
      Simd total(Real{0});
      for (std::int64_t i = 0; i < a.n; ++i) total += load(p + i * a.inner + k, n);
      store(q + k, total * weight, n);
    });
  }
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    for (std::int64_t o = 0; o < a.outer; ++o)
      for (std::int64_t i = 0; i < a.n; ++i) {
        Real* p = d.p + (o * a.n + i) * a.inner;
        if (a.inner == 1) accumulate(*p, weight * dy[o], d.overwrite);
        else
          map(a.inner, [&](std::int64_t k, int n) {
            accumulate(p + k, load(dy + o * a.inner + k, n) * weight, d.overwrite, n);
          });
      }
  });
  return y;
}

} // namespace

Tensor sum(const Tensor& x, int axis, bool keep) { return weighted_sum("sum", x, axis, keep, false); }
Tensor mean(const Tensor& x, int axis, bool keep) { return weighted_sum("mean", x, axis, keep, true); }
Tensor sum(const Tensor& x) { return weighted_sum("sum", reshape(x, {x.size()}), 0, false, false); }
Tensor mean(const Tensor& x) { return weighted_sum("mean", reshape(x, {x.size()}), 0, false, true); }

Tensor sum_before(const Tensor& input, int axis) {
  const Op op("sum_before", {&input});
  const Tensor x = contiguous(input);
  const AxisExtents a = extents_around(op, x.shape, axis);
  const Tensor y = op.output(x.shape);
  for (std::int64_t o = 0, some = op.computed(a.outer); o < some; ++o) {
    const Real* p = x.data + o * a.n * a.inner;
    Real* q = y.data + o * a.n * a.inner;
    map(a.inner, [&](std::int64_t k, int n) {
      Simd total(Real{0});
      for (std::int64_t i = 0; i < a.n; ++i) {
        store(q + i * a.inner + k, total, n);
        total += load(p + i * a.inner + k, n);
      }
    });
  }
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    for (std::int64_t o = 0; o < a.outer; ++o) {
      const Real* dy = x.tape->grad(y) + o * a.n * a.inner;
      Real* dx = d.p + o * a.n * a.inner;
      map(a.inner, [&](std::int64_t k, int n) {
        Simd total(Real{0});
        for (std::int64_t i = a.n - 1; i >= 0; --i) {
          accumulate(dx + i * a.inner + k, total, d.overwrite, n);
          total += load(dy + i * a.inner + k, n);
        }
      });
    }
  });
  return y;
}

Tensor max(const Tensor& input, int axis, bool keep) {
  const Op op("max", {&input});
  const Tensor x = contiguous(input);
  const AxisExtents a = extents_around(op, x.shape, axis);
  op.check(a.n > 0, "the largest over an axis of 0 entries");
  const Tensor y = op.output(without_axis(x.shape, axis, keep));
  auto* where = op.tape().keep<std::int64_t>(y.size());
  for (std::int64_t o = 0; o < a.outer; ++o)
    for (std::int64_t k = 0; k < a.inner; ++k) {
      const Real* p = x.data + o * a.n * a.inner + k;
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < a.n; ++i)
        // a NaN counts as the largest
        if (p[i * a.inner] > p[best * a.inner] || p[i * a.inner] != p[i * a.inner]) best = i;
      y.data[o * a.inner + k] = p[best * a.inner];
      where[o * a.inner + k] = (o * a.n + best) * a.inner + k;
    }
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    if (d.overwrite)
      for (std::int64_t i = 0; i < x.size(); ++i) d.p[i] = 0;
    for (std::int64_t i = 0; i < y.size(); ++i) d.p[where[i]] += dy[i];
  });
  return y;
}

} // namespace heed::HEED_REAL
