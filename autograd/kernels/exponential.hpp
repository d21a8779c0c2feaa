// The exponential function, and the normal distribution that is made of it, fast enough for the innermost loops.
#pragma once

#include "autograd/kernels/simd.hpp"

#include <limits>
#include <numbers>
#include <type_traits>

namespace heed::HEED_REAL {

namespace detail {

/// x = n ln 2 + r with |r| <= ln 2 / 2, and exp(r) by a polynomial fitted to it (relative error 1.9e-9). Adding
/// 1.5 * 2^23 rounds to a whole number and leaves it in the lowest bits, from where a shift makes it the exponent of
/// 2^n. The result is exp(r) 2^n / 2^`less`.
template <int less> inline Simd unbounded_exponential(const Simd& x) {
  using Whole = xsimd::batch<std::int32_t>;
  constexpr float rounding = 12582912.F;
  const Simd shifted = xsimd::fma(x, Simd(std::numbers::log2e_v<float>), Simd(rounding));
  const Simd n = shifted - rounding;
  // ln 2 in two parts, of which the first has few digits, so that n times it is exact.
  const Simd r = xsimd::fnma(n, Simd(-2.12194440e-4F), xsimd::fnma(n, Simd(0.693359375F), x));
  Simd p(0.0013836831F);
  for (const float c : {0.008374824F, 0.041668226F, 0.1666642F, 0.49999992F, 1.F, 1.F}) p = xsimd::fma(p, r, Simd(c));
  const Whole exponent = (reinterpret_lanes<std::int32_t>(shifted) << 23) + Whole((127 - less) << 23);
  return p * reinterpret_lanes<Real>(exponent);
}
inline constexpr float lowest_exponent = -86.64339F;

} // namespace detail

/// exp(x), in float within 2 units in the last place; 0 where that would be below 2^-125. Infinities and NaN come
/// out as they should. In double it is xsimd's.
inline Simd exponential(const Simd& x) {
  if constexpr (std::is_same_v<Real, double>) {
    return xsimd::exp(x);
  } else {
    constexpr float highest = 88.72283F;
    // 2^n in two factors, since 2^128 is not a float although exp(88.7) is.
    const Simd y = detail::unbounded_exponential<1>(x) * 2.F;
    return xsimd::select(x < Simd(detail::lowest_exponent), Simd(0.F),
                         xsimd::select(x > Simd(highest), Simd(std::numeric_limits<float>::infinity()), y));
  }
}

/// The same for x below 88, or NaN, with the same bits: what a softmax needs.
inline Simd bounded_exponential(const Simd& x) {
  if constexpr (std::is_same_v<Real, double>) {
    return xsimd::exp(x);
  } else {
    return xsimd::select(x < Simd(detail::lowest_exponent), Simd(0.F), detail::unbounded_exponential<0>(x));
  }
}

/// The standard normal distribution at x: Phi(x), and its density.
struct Normal {
  Simd cdf, density;
};

/// In float, with z = |x| / sqrt(2): Phi(-|x|) = erfc(z) / 2 and erfc(z) = exp(-z^2) q(1 / (1 + 0.4 z)), where the
/// polynomial q was fitted to exp(z^2) erfc(z) for z up to 9.4, beyond which the float is 0 (relative error 1e-7).
inline Normal normal_distribution(const Simd& x) {
  constexpr Real peak = Real(std::numbers::inv_sqrtpi * std::numbers::sqrt2 / 2),
                 half = std::numbers::sqrt2_v<Real> / 2;
  const Simd e = exponential(Real(-0.5) * x * x);
  if constexpr (std::is_same_v<Real, double>) {
    return {Real(0.5) * xsimd::erfc(x * -half), peak * e};
  } else {
    const Simd t = 1.F / xsimd::fma(xsimd::abs(x), Simd(0.4F * half), Simd(1.F));
    Simd q(0.07264004F);
    for (const float c :
         {-0.39024803F, 0.68463554F, -0.38672204F, 0.42795957F, 0.12614181F, 0.24157297F, 0.22393883F, 8.1215779e-5F})
      q = xsimd::fma(q, t, Simd(c));
    const Simd tail = 0.5F * e * q;
    return {xsimd::select(x > Simd(0.F), 1.F - tail, tail), peak * e};
  }
}

} // namespace heed::HEED_REAL
