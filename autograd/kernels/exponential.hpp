// The exponential function, and the normal distribution's CDF and density, vectorised for innermost loops.
#pragma once

#include "autograd/kernels/simd.hpp"

#include <limits>
#include <numbers>
#include <type_traits>

namespace heed::HEED_REAL {

namespace detail {

/// In float: x = n ln 2 + r with |r| <= ln 2 / 2. A polynomial fitted to exp(r) has a relative error of 1.9e-9. Adding
/// 1.5 * 2^23 rounds to an integer and leaves the integer in the lowest bits; a shift then turns it into the exponent
/// of 2^n.
struct Reduced {
  Simd shifted, r, quotient; ///< the last: (exp(r) - 1) / r

  explicit Reduced(const Simd& x) {
    constexpr float rounding = 12582912.F;
    shifted = xsimd::fma(x, Simd(std::numbers::log2e_v<float>), Simd(rounding));
    const Simd n = shifted - rounding;
    // ln 2 is split in two parts. The first part has few digits, so that n times it is exact.
    r = xsimd::fnma(n, Simd(-2.12194440e-4F), xsimd::fnma(n, Simd(0.693359375F), x));
    quotient = Simd(0.0013836831F);
    for (const float c : {0.008374824F, 0.041668226F, 0.1666642F, 0.49999992F, 1.F})
      quotient = xsimd::fma(quotient, r, Simd(c));
  }
  /// 2^n / 2^`less`.
  template <int less> Simd power() const {
    using Whole = xsimd::batch<std::int32_t>;
    return reinterpret_lanes<Real>((reinterpret_lanes<std::int32_t>(shifted) << 23) + Whole((127 - less) << 23));
  }
};

/// exp(x) / 2^`less`.
template <int less> inline Simd unbounded_exponential(const Simd& x) {
  const Reduced e(x);
  return xsimd::fma(e.quotient, e.r, Simd(1.F)) * e.power<less>();
}
inline constexpr float lowest_exponent = -86.64339F;

} // namespace detail

/// exp(x). In float the error is at most 2 units in the last place, and results below 2^-125 become 0. Infinities and
/// NaN are handled correctly. In double, xsimd's exp.
inline Simd exponential(const Simd& x) {
  if constexpr (std::is_same_v<Real, double>) {
    return xsimd::exp(x);
  } else {
    constexpr float highest = 88.72283F;
    // 2^n is applied as two factors: 2^128 overflows a float, although exp(88.7) does not.
    const Simd y = detail::unbounded_exponential<1>(x) * 2.F;
    return xsimd::select(x < Simd(detail::lowest_exponent), Simd(0.F),
                         xsimd::select(x > Simd(highest), Simd(std::numeric_limits<float>::infinity()), y));
  }
}

/// exp(x) for x below 88 or NaN, as a softmax needs it: `exponential` without the check for overflow, with the same
/// bits.
inline Simd bounded_exponential(const Simd& x) {
  if constexpr (std::is_same_v<Real, double>) {
    return xsimd::exp(x);
  } else {
    return xsimd::select(x < Simd(detail::lowest_exponent), Simd(0.F), detail::unbounded_exponential<0>(x));
  }
}

namespace detail {

/// exp(x) - 1 for |x| < 0.5: x (1 + x / 2 (1 + x / 3 (...))); |x|^14 / 15! is below the rounding error.
inline Simd series_less_one(const Simd& x) {
  Simd series(Real{1});
  for (int k = 14; k > 1; --k) series = xsimd::fma(series, x * (Real{1} / static_cast<Real>(k)), Simd(Real{1}));
  return series * x;
}

} // namespace detail

struct ExponentialAndLessOne {
  Simd less_one, exponential;
};

/// exp(x) - 1, without loss of digits where x is near 0, and exp(x), for x below 88.
inline ExponentialAndLessOne exponential_with_less_one(const Simd& x) {
  if constexpr (std::is_same_v<Real, double>) {
    const Simd e = exponential(x);
    return {xsimd::select(xsimd::abs(x) < Simd(0.5), detail::series_less_one(x), e - 1.0), e};
  } else {
    const detail::Reduced reduced(x);
    const Simd rest = reduced.quotient * reduced.r, power = reduced.power<0>(),
               e = fused(reduced.quotient, reduced.r, Simd(1.F)) * power; // the bits of `exponential`
    const auto vanishes = x < Simd(detail::lowest_exponent);
    const Simd far = xsimd::select(vanishes, Simd(-1.F), xsimd::fms(rest + 1.F, power, Simd(1.F)));
    return {xsimd::select(xsimd::abs(x) < Simd(0.34F), rest, far), xsimd::select(vanishes, Simd(0.F), e)};
  }
}

/// exp(x - shift) - base with base = exp(-shift), without loss of digits where x is near 0. x - shift must be below 88.
inline Simd exponential_less_one(const Simd& x, Real shift, Real base) {
  if constexpr (std::is_same_v<Real, double>) {
    return xsimd::select(xsimd::abs(x) < Simd(0.5), detail::series_less_one(x) * base, exponential(x - shift) - base);
  } else {
    // Where |x| is below ln 2 / 2, the reduced argument is x itself.
    const auto near = xsimd::abs(x) < Simd(0.34F);
    const Simd argument = xsimd::select(near, x, x - shift);
    const detail::Reduced e(argument);
    const Simd rest = e.quotient * e.r, far = xsimd::fms(rest + 1.F, e.template power<0>(), Simd(base));
    return xsimd::select(near, rest * base, xsimd::select(argument < Simd(detail::lowest_exponent), Simd(-base), far));
  }
}

/// The standard normal distribution at x: Phi(x), and its density.
struct Normal {
  Simd cdf, density;
};

/// In float, with z = |x| / sqrt(2): Phi(-|x|) = erfc(z) / 2 and erfc(z) = exp(-z^2) q(1 / (1 + 0.4 z)). The polynomial
/// q was fitted to exp(z^2) erfc(z) for z up to 9.4 (relative error 1e-7). For larger z the float result is 0.
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
