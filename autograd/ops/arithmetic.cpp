#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/ops.hpp"

namespace heed::HEED_REAL {

namespace {

// y = f(a, b), broadcast to y's shape. y is contiguous.
template <class F> void combine(const Tensor& y, const Tensor& a, const Tensor& b, F f) {
  walk_in_parallel<3>(y.shape, {y.stride, stretched(a.shape, a.stride, y.shape), stretched(b.shape, b.stride, y.shape)},
                      per_element, [&](auto at, std::int64_t n, auto step) {
                        Real* p = y.data + at[0];
                        const Real *s = a.data + at[1], *t = b.data + at[2];
                        if (step[0] == 1 && step[1] == 1 && step[2] == 1) {
                          for (std::int64_t i = 0; i < n; ++i) p[i] = f(s[i], t[i]);
                        } else if (step[0] == 1 && step[1] == 1 && step[2] == 0) {
                          for (std::int64_t i = 0; i < n; ++i) p[i] = f(s[i], *t);
                        } else {
                          for (std::int64_t i = 0; i < n; ++i) p[i * step[0]] = f(s[i * step[1]], t[i * step[2]]);
                        }
                      });
}

// Adds f(dy, a, b) to the gradient of `x` (one of a and b), summed over the broadcast axes of x.
template <class F> void reduce_into(const Tensor& x, const Tensor& y, const Tensor& a, const Tensor& b, F f) {
  const bool broadcast = x.size() != y.size(); // possibly along an axis of length 0
  const GradTarget d = broadcast ? GradTarget{x.tape->grad_accumulator(x), false} : x.tape->grad_target(x);
  if (!d) return;
  const Real* dy = x.tape->grad(y);
  const bool first = d.overwrite;
  walk_in_parallel<4>(y.shape,
                      {stretched(x.shape, x.stride, y.shape), y.stride, stretched(a.shape, a.stride, y.shape),
                       stretched(b.shape, b.stride, y.shape)},
                      per_element, [&](auto at, std::int64_t n, auto step) {
                        Real* p = d.p + at[0];
                        const Real *g = dy + at[1], *s = a.data + at[2], *t = b.data + at[3];
                        if (step[0] == 0) {
                          Real total = 0;
                          for (std::int64_t i = 0; i < n; ++i)
                            total += f(g[i * step[1]], s[i * step[2]], t[i * step[3]]);
                          accumulate(*p, total, first);
                        } else if (step[0] == 1 && step[1] == 1 && step[2] == 1 && step[3] == 1) {
                          if (first)
                            for (std::int64_t i = 0; i < n; ++i) p[i] = f(g[i], s[i], t[i]);
                          else
                            for (std::int64_t i = 0; i < n; ++i) p[i] += f(g[i], s[i], t[i]);
                        } else {
                          for (std::int64_t i = 0; i < n; ++i)
                            accumulate(p[i * step[0]], f(g[i * step[1]], s[i * step[2]], t[i * step[3]]), first);
                        }
                      });
}

Tensor broadcast_output(const Op& op, const Tensor& x, const Tensor& y) {
  Shape shape;
  if (!broadcast(x.shape, y.shape, shape))
    op.fail(fmt::format("the shapes do not broadcast: {} and {}", x.shape.text(), y.shape.text()));
  return op.output(shape);
}

// The first operand takes over the gradient of `out` if possible, so that a residual connection needs no copy.
void pass_on(const Tensor& out, const Tensor& x, const Tensor& y) {
  if (!x.tape->donate_gradient(out, x)) reduce_into(x, out, x, y, [](Real g, Real, Real) { return g; });
}

} // namespace

Tensor add(const Tensor& x, const Tensor& y) {
  const Op op("add", {&x, &y});
  const Tensor out = broadcast_output(op, x, y);
  if (op.computes()) combine(out, x, y, [](Real a, Real b) { return a + b; });
  op.record(out, [=] {
    reduce_into(y, out, x, y, [](Real g, Real, Real) { return g; });
    pass_on(out, x, y);
  });
  return out;
}

Tensor sub(const Tensor& x, const Tensor& y) {
  const Op op("sub", {&x, &y});
  const Tensor out = broadcast_output(op, x, y);
  if (op.computes()) combine(out, x, y, [](Real a, Real b) { return a - b; });
  op.record(out, [=] {
    reduce_into(y, out, x, y, [](Real g, Real, Real) { return -g; });
    pass_on(out, x, y);
  });
  return out;
}

Tensor mul(const Tensor& x, const Tensor& y) {
  const Op op("mul", {&x, &y});
  const Tensor out = broadcast_output(op, x, y);
  if (op.computes()) combine(out, x, y, [](Real a, Real b) { return a * b; });
  op.record(out, [=] {
    reduce_into(x, out, x, y, [](Real g, Real, Real b) { return g * b; });
    reduce_into(y, out, x, y, [](Real g, Real a, Real) { return g * a; });
  });
  return out;
}

Tensor div(const Tensor& x, const Tensor& y) {
  const Op op("div", {&x, &y});
  const Tensor out = broadcast_output(op, x, y);
  if (op.computes()) combine(out, x, y, [](Real a, Real b) { return a / b; });
  op.record(out, [=] {
    reduce_into(x, out, x, y, [](Real g, Real, Real b) { return g / b; });
    reduce_into(y, out, x, y, [](Real g, Real a, Real b) { return -g * a / (b * b); });
  });
  return out;
}

Tensor scale(const Tensor& input, Real factor, Real shift) {
  const Op op("scale", {&input});
  const Tensor x = contiguous(input);
  const Tensor y = op.output(x.shape);
  if (op.computes())
    in_parallel(y.size(), per_element, elements_together, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) y.data[i] = factor * x.data[i] + shift;
    });
  op.record(y, [=] {
    const GradTarget d = x.tape->grad_target(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    map_in_parallel(y.size(), per_element, [&](std::int64_t i, int n) {
      accumulate_product(d.p + i, load(dy + i, n), Simd(factor), d.overwrite, n);
    });
  });
  return y;
}

} // namespace heed::HEED_REAL
