// Activation functions (ReLU, GELU, SiLU, tanh, logistic) as SIMD code. Each activation computes its value and its
// derivative together, because the two share the most expensive terms.
#pragma once

#include "autograd/kernels/exponential.hpp"

namespace heed::HEED_REAL {

struct ValueAndSlope {
  Simd value, derivative;
};

inline Simd logistic(const Simd& x) { return Real{1} / (Real{1} + exponential(-x)); }

/// log(1 + u) for 0 <= u <= 1: with t = u / (2 + u) <= 1/3, it is 2 (t + t^3 / 3 + t^5 / 5 + ...). Four terms at a time
/// form a group, since each step of the sum waits for the previous step.
inline Simd log_one_plus(const Simd& u) {
  constexpr int fours = std::is_same_v<Real, float> ? 2 : 5; // the rest is below half of a unit in the last place
  const Simd t = u / (u + Real{2}), x = t * t, x2 = x * x, x4 = x2 * x2;
  const auto of = [](int k) { return Simd(Real{2} / static_cast<Real>(2 * k + 1)); };
  Simd series(Real{0});
  for (int k = 4 * (fours - 1); k >= 0; k -= 4)
    series = xsimd::fma(series, x4,
                        xsimd::fma(xsimd::fma(of(k + 3), x, of(k + 2)), x2, xsimd::fma(of(k + 1), x, of(k))));
  return series * t;
}

/// log(1 + exp(x)).
inline Simd softplus(const Simd& x) { return xsimd::max(x, Simd(Real{0})) + log_one_plus(exponential(-xsimd::abs(x))); }

/// tanh(x) = 2 logistic(2 x) - 1. The absolute error is about the rounding error of 1, so small results have a larger
/// relative error. In double precision, xsimd's tanh.
inline Simd tanh_of(const Simd& x) {
  if constexpr (std::is_same_v<Real, double>) return xsimd::tanh(x);
  else return xsimd::fms(Simd(Real{2}), logistic(x + x), Simd(Real{1}));
}

inline ValueAndSlope relu_at(const Simd& x) {
  // This form keeps a NaN input a NaN.
  const auto off = x <= Simd(Real{0});
  return {xsimd::select(off, Simd(Real{0}), x), xsimd::select(off, Simd(Real{0}), Simd(Real{1}))};
}

inline ValueAndSlope relu_squared_at(const Simd& x) {
  const Simd y = relu_at(x).value;
  return {y * y, y + y};
}

inline ValueAndSlope gelu_at(const Simd& x) {
  const auto [cdf, density] = normal_distribution(x);
  return {x * cdf, xsimd::fma(x, density, cdf)};
}

inline ValueAndSlope gelu_tanh_at(const Simd& x) {
  // tanh(u) = 2 logistic(2 u) - 1, with u = outer (x + inner x^3)
  constexpr Real outer = Real(std::numbers::sqrt2 * std::numbers::inv_sqrtpi), inner = Real(0.044715);
  const Simd half = logistic(Real{2} * outer * (x + inner * x * x * x));
  const Simd u_derivative = outer * (Real{1} + Real{3} * inner * x * x);
  return {x * half, half + Real{2} * x * half * (Real{1} - half) * u_derivative};
}

inline ValueAndSlope silu_at(const Simd& x) {
  const Simd s = logistic(x), y = x * s;
  return {y, s + y * (Real{1} - s)};
}

} // namespace heed::HEED_REAL
