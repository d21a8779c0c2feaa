#include "autograd/kernels/pack.hpp"
#include "autograd/ops.hpp"

#include <numbers>

namespace heed::HEED_REAL {

namespace {

// y = value(x), dx += slope(x, y) dy, on whole vectors.
template <class Value, class Slope> Tensor elementwise(const char* name, const Tensor& input, Value value, Slope slope) {
  const Op op(name, {&input});
  const Tensor x = contiguous(input);
  const Tensor y = op.output(x.shape);
  map(x.size(), [&](std::int64_t i, int n) { store(y.data + i, value(load(x.data + i, n)), n); });
  op.record(y, [=] {
    const Into d = x.tape->into(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    map(x.size(), [&](std::int64_t i, int n) {
      deposit(d.p + i, slope(load(x.data + i, n), load(y.data + i, n)) * load(dy + i, n), d.first, n);
    });
  });
  return y;
}

Pack logistic(const Pack& x) { return Real{1} / (Real{1} + xsimd::exp(-x)); }

// The standard normal distribution: Phi(x) and its density.
Pack normal_cdf(const Pack& x) { return Real(0.5) * (Real{1} + xsimd::erf(x * Real(std::numbers::sqrt2 / 2))); }
Pack normal_density(const Pack& x) {
  constexpr Real peak = Real(std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2);
  return peak * xsimd::exp(Real(-0.5) * x * x);
}

// The argument of the tanh in gelu's approximation, and its derivative.
constexpr Real outer = Real(std::numbers::sqrt2 * std::numbers::inv_sqrtpi), inner = Real(0.044715);
Pack gelu_argument(const Pack& x) { return outer * (x + inner * x * x * x); }
Pack gelu_argument_slope(const Pack& x) { return outer * (Real{1} + Real{3} * inner * x * x); }

} // namespace

Tensor exp(const Tensor& x) {
  return elementwise("exp", x, [](Pack v) { return xsimd::exp(v); }, [](Pack, Pack y) { return y; });
}

Tensor log(const Tensor& x) {
  return elementwise("log", x, [](Pack v) { return xsimd::log(v); }, [](Pack v, Pack) { return Real{1} / v; });
}

Tensor tanh(const Tensor& x) {
  return elementwise("tanh", x, [](Pack v) { return xsimd::tanh(v); }, [](Pack, Pack y) { return Real{1} - y * y; });
}

Tensor sigmoid(const Tensor& x) {
  return elementwise("sigmoid", x, [](Pack v) { return logistic(v); },
                     [](Pack, Pack y) { return y * (Real{1} - y); });
}

Tensor relu(const Tensor& x) {
  // Written so that a NaN stays one.
  return elementwise("relu", x, [](Pack v) { return xsimd::select(v <= Pack(Real{0}), Pack(Real{0}), v); },
                     [](Pack v, Pack) { return xsimd::select(v <= Pack(Real{0}), Pack(Real{0}), Pack(Real{1})); });
}

Tensor gelu(const Tensor& input) {
  const Op op("gelu", {&input});
  const Tensor x = contiguous(input);
  const Tensor y = op.output(x.shape);
  // The slope is kept: it shares the distribution function, the dearest part, with the value.
  Real* slope = op.wanted() ? op.tape().keep<Real>(x.size()) : nullptr;
  map(x.size(), [&](std::int64_t i, int n) {
    const Pack v = load(x.data + i, n), cdf = normal_cdf(v);
    store(y.data + i, v * cdf, n);
    if (slope) store(slope + i, cdf + v * normal_density(v), n);
  });
  op.record(y, [=] {
    const Into d = x.tape->into(x);
    if (!d) return;
    const Real* dy = x.tape->grad(y);
    map(x.size(), [&](std::int64_t i, int n) { deposit(d.p + i, load(slope + i, n) * load(dy + i, n), d.first, n); });
  });
  return y;
}

Tensor gelu_tanh(const Tensor& x) {
  return elementwise(
      "gelu_tanh", x, [](Pack v) { return Real(0.5) * v * (Real{1} + xsimd::tanh(gelu_argument(v))); },
      [](Pack v, Pack) {
        const Pack t = xsimd::tanh(gelu_argument(v));
        return Real(0.5) * (Real{1} + t) + Real(0.5) * v * (Real{1} - t * t) * gelu_argument_slope(v);
      });
}

Tensor silu(const Tensor& x) {
  return elementwise("silu", x, [](Pack v) { return v * logistic(v); },
                     [](Pack v, Pack y) {
                       const Pack s = logistic(v);
                       return s + y * (Real{1} - s);
                     });
}

} // namespace heed::HEED_REAL
