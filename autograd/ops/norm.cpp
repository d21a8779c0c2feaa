#include "autograd/kernels/parallel_loops.hpp"
#include "autograd/ops.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

namespace {

void check_vector(const Op& op, const char* name, const Tensor& v, const Tensor& x) {
  op.check(x.rank() >= 1 && x.shape[-1] > 0, "x needs a last axis with an entry");
  if (!(v.shape == Shape{x.shape[-1]}))
    op.fail(fmt::format("the {} must be [{}], it is {}", name, x.shape[-1], v.shape.text()));
}

// The gradient target of a vector whose gradient is summed over rows, set to zero if nothing has been written yet.
GradTarget summed_into(const Tensor& v) {
  GradTarget d = v.tape->grad_target(v);
  if (d && d.overwrite) std::fill_n(d.p, v.size(), Real{0});
  d.overwrite = false;
  return d;
}

// Calls f(r) for `rows` rows of `width`, on several threads.
template <class F> void each_row(std::int64_t rows, std::int64_t width, F&& f) {
  in_parallel(rows, 2 * per_element * static_cast<double>(width), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) f(r);
  });
}

// Calls f(rows begin, end, columns begin, end, with_vectors, with_rows) for the backward pass of a norm. It computes
// gradients of vectors, which are sums over rows, and of rows, which need sums over columns. One thread does both at
// once. Several threads share first the columns, then the rows, so each sum has the same order.
template <class F> void each_part_of_backward(std::int64_t rows, std::int64_t width, F&& f) {
  using std::bool_constant;
  const double each = per_element * static_cast<double>(rows);
  if (threads_for(each * static_cast<double>(width)) == 1)
    return f(0, rows, 0, width, bool_constant<true>(), bool_constant<true>());
  in_parallel(width, each, elements_together, [&](std::int64_t begin, std::int64_t end) {
    f(0, rows, begin, end, bool_constant<true>(), bool_constant<false>());
  });
  in_parallel(rows, 2 * per_element * static_cast<double>(width), 1, [&](std::int64_t begin, std::int64_t end) {
    f(begin, end, 0, width, bool_constant<false>(), bool_constant<true>());
  });
}

} // namespace

Tensor layer_norm(const Tensor& input, const Tensor& gains, const Tensor* biases, Real epsilon) {
  const Op op("layer_norm", {&input, &gains, biases ? biases : &gains});
  check_vector(op, "gain", gains, input);
  if (biases) check_vector(op, "bias", *biases, input);
  const Tensor x = contiguous(input), gain = contiguous(gains);
  const bool biased = biases != nullptr;
  const Tensor bias = biased ? contiguous(*biases) : gain;
  const std::int64_t width = x.shape[-1], count = x.size() / width;
  const Real share = Real{1} / static_cast<Real>(width);
  const Tensor y = op.output(x.shape);
  Real* centre = op.tape().keep<Real>(count); // mean and 1 / standard deviation of each row
  Real* precision = op.tape().keep<Real>(count);
  each_row(op.computed(count), width, [&](std::int64_t r) {
    const Real* p = x.data + r * width;
    Real* q = y.data + r * width;
    const Real m = share * sum_over(width, [&](std::int64_t i, int n) { return load(p + i, n); });
    Real squares = 0;
    if (width % lanes == 0)
      squares = sum_over(width, [&](std::int64_t i, int) {
        const Simd c = load(p + i) - m;
        return c * c;
      });
    else
      for (std::int64_t i = 0; i < width; ++i) squares += (p[i] - m) * (p[i] - m);
    const Real s = Real{1} / std::sqrt(share * squares + epsilon);
    centre[r] = m;
    precision[r] = s;
    map(width, [&](std::int64_t i, int n) {
      const Simd h = (load(p + i, n) - m) * s, g = load(gain.data + i, n);
      store(q + i, biased ? fused(h, g, load(bias.data + i, n), n) : h * g, n);
    });
  });
  // With h = (x - mean) s: dx = s (g dy - mean(g dy) - h mean(g dy h)), dgain = sum dy h, dbias = sum dy.
  op.record(y, [=] {
    Tape& tape = *y.tape;
    const Real* dy = tape.grad(y);
    const GradTarget dg = summed_into(gain);
    const GradTarget db = biased ? summed_into(bias) : GradTarget{};
    const GradTarget dx = tape.grad_target(x);
    if (!dx && !dg && !db) return;
    each_part_of_backward(count, width,
                          [&](std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1, auto with_vectors,
                              auto with_rows) {
                            for (std::int64_t r = r0; r < r1; ++r) {
                              const Real *p = x.data + r * width + c0, *g = dy + r * width + c0;
                              const Real m = centre[r], s = precision[r];
                              Simd along(Real{0}), across(Real{0});
                              map(c1 - c0, [&](std::int64_t i, int n) {
                                const Simd d = load(g + i, n), h = (load(p + i, n) - m) * s;
                                if constexpr (with_rows) {
                                  const Simd w = d * load(gain.data + i, n);
                                  along += w;
                                  across += w * h;
                                }
                                if constexpr (with_vectors) {
                                  if (dg) store(dg.p + c0 + i, load(dg.p + c0 + i, n) + d * h, n);
                                  if (db) store(db.p + c0 + i, load(db.p + c0 + i, n) + d, n);
                                }
                              });
                              if (!with_rows || !dx) continue;
                              const Real mean_along = share * lane_sum(along), mean_across = share * lane_sum(across);
                              map(width, [&](std::int64_t i, int n) {
                                const Simd h = (load(p + i, n) - m) * s, w = load(g + i, n) * load(gain.data + i, n);
                                accumulate_product(dx.p + r * width + i, Simd(s), w - mean_along - h * mean_across,
                                                   dx.overwrite, n);
                              });
                            }
                          });
  });
  return y;
}

Tensor rms_norm(const Tensor& input, const Tensor& gains, Real epsilon) {
  const Op op("rms_norm", {&input, &gains});
  check_vector(op, "gain", gains, input);
  const Tensor x = contiguous(input), gain = contiguous(gains);
  const std::int64_t width = x.shape[-1], count = x.size() / width;
  const Real share = Real{1} / static_cast<Real>(width);
  const Tensor y = op.output(x.shape);
  Real* precision = op.tape().keep<Real>(count);
  each_row(op.computed(count), width, [&](std::int64_t r) {
    const Real* p = x.data + r * width;
    const Real squares = sum_over(width, [&](std::int64_t i, int n) {
      const Simd v = load(p + i, n);
      return v * v;
    });
    const Real s = precision[r] = Real{1} / std::sqrt(share * squares + epsilon);
    map(width,
        [&](std::int64_t i, int n) { store(y.data + r * width + i, load(p + i, n) * s * load(gain.data + i, n), n); });
  });
  // With h = x s: dx = s (g dy - h mean(g dy h)), dgain = sum dy h.
  op.record(y, [=] {
    Tape& tape = *y.tape;
    const Real* dy = tape.grad(y);
    const GradTarget dg = summed_into(gain);
    const GradTarget dx = tape.grad_target(x);
    if (!dx && !dg) return;
    each_part_of_backward(count, width,
                          [&](std::int64_t r0, std::int64_t r1, std::int64_t c0, std::int64_t c1, auto with_vectors,
                              auto with_rows) {
                            for (std::int64_t r = r0; r < r1; ++r) {
                              const Real *p = x.data + r * width + c0, *g = dy + r * width + c0;
                              const Real s = precision[r];
                              Simd across(Real{0});
                              map(c1 - c0, [&](std::int64_t i, int n) {
                                const Simd d = load(g + i, n), h = load(p + i, n) * s;
                                if constexpr (with_rows) across += d * load(gain.data + i, n) * h;
                                if constexpr (with_vectors)
                                  if (dg) store(dg.p + c0 + i, load(dg.p + c0 + i, n) + d * h, n);
                              });
                              if (!with_rows || !dx) continue;
                              const Real mean_across = share * lane_sum(across);
                              map(width, [&](std::int64_t i, int n) {
                                const Simd h = load(p + i, n) * s, w = load(g + i, n) * load(gain.data + i, n);
                                accumulate_product(dx.p + r * width + i, Simd(s), w - h * mean_across, dx.overwrite, n);
                              });
                            }
                          });
  });
  return y;
}

Tensor l2_normalize(const Tensor& input, Real epsilon) {
  const Op op("l2_normalize", {&input});
  op.check(input.rank() >= 1 && input.shape[-1] > 0, "x needs a last axis with an entry");
  const Tensor x = contiguous(input);
  const std::int64_t width = x.shape[-1], count = x.size() / width;
  const Tensor y = op.output(x.shape);
  Real* inverse = op.tape().keep<Real>(count); // 1 / max(|x|, epsilon); negative if epsilon was used
  each_row(op.computed(count), width, [&](std::int64_t r) {
    const Real* p = x.data + r * width;
    const Real norm = std::sqrt(sum_over(width, [&](std::int64_t i, int n) {
      const Simd v = load(p + i, n);
      return v * v;
    }));
    const Real s = Real{1} / std::max(norm, epsilon);
    inverse[r] = norm < epsilon ? -s : s;
    map(width, [&](std::int64_t i, int n) { store(y.data + r * width + i, load(p + i, n) * s, n); });
  });
  // dx = (dy - y (y . dy)) / |x|; below epsilon, dx = dy / epsilon.
  op.record(y, [=] {
    const GradTarget d = y.tape->grad_target(x);
    if (!d) return;
    const Real* dy = y.tape->grad(y);
    each_row(count, width, [&](std::int64_t r) {
      const Real *q = y.data + r * width, *g = dy + r * width;
      const Real s = std::abs(inverse[r]);
      const Real along = inverse[r] < 0
                             ? Real{0}
                             : sum_over(width, [&](std::int64_t i, int n) { return load(q + i, n) * load(g + i, n); });
      map(width, [&](std::int64_t i, int n) {
        accumulate_product(d.p + r * width + i, Simd(s), load(g + i, n) - load(q + i, n) * along, d.overwrite, n);
      });
    });
  });
  return y;
}

} // namespace heed::HEED_REAL
