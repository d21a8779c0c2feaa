// SIMD vectors of floating-point values, and loops over arrays with them. `load(p, n)` and `store(p, v, n)` handle
// whole vectors and the shorter rest at the end with the same code.
#pragma once

#include "autograd/real.hpp"

#include <cstdint>
#include <utility>
#include <xsimd/xsimd.hpp>

namespace heed::HEED_REAL {

using Simd = xsimd::batch<Real>;
inline constexpr int lanes = static_cast<int>(Simd::size);

/// n, rounded up to a multiple of the vector size.
inline constexpr std::int64_t whole_vectors(std::int64_t n) { return (n + lanes - 1) / lanes * lanes; }

namespace detail {

// The first n lanes, by the masked instructions of the build's CPUs.
#if defined(__AVX512F__)
inline __m512 load_lanes(const float* p, int n) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1U << n) - 1), p);
}
inline __m512d load_lanes(const double* p, int n) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1U << n) - 1), p);
}
inline void store_lanes(float* p, __m512 v, int n) {
  _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << n) - 1), v);
}
inline void store_lanes(double* p, __m512d v, int n) {
  _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1U << n) - 1), v);
}
#elif defined(__AVX2__)
inline __m256i first_lanes(int n, int words) {
  alignas(32) static constexpr std::int32_t flags[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(flags + 8 - n * words));
}
inline __m256 load_lanes(const float* p, int n) { return _mm256_maskload_ps(p, first_lanes(n, 1)); }
inline __m256d load_lanes(const double* p, int n) { return _mm256_maskload_pd(p, first_lanes(n, 2)); }
inline void store_lanes(float* p, __m256 v, int n) { _mm256_maskstore_ps(p, first_lanes(n, 1), v); }
inline void store_lanes(double* p, __m256d v, int n) { _mm256_maskstore_pd(p, first_lanes(n, 2), v); }
#else
inline Simd load_lanes(const Real* p, int n) {
  alignas(64) Real padded[lanes] = {};
  for (int i = 0; i < n; ++i) padded[i] = p[i];
  return Simd::load_aligned(padded);
}
inline void store_lanes(Real* p, const Simd& v, int n) {
  alignas(64) Real all[lanes];
  v.store_aligned(all);
  for (int i = 0; i < n; ++i) p[i] = all[i];
}
#endif

} // namespace detail

/// The first n values at p. The other lanes are zero.
inline Simd load(const Real* p, int n = lanes) {
  if (n == lanes) [[likely]]
    return Simd::load_unaligned(p);
  return detail::load_lanes(p, n);
}

/// Writes the first n lanes.
inline void store(Real* p, const Simd& v, int n = lanes) {
  if (n == lanes) [[likely]]
    return v.store_unaligned(p);
  detail::store_lanes(p, v, n);
}

/// Calls f(i, n) for i = 0, lanes, 2 lanes, ...; n is `lanes` except in the last call.
template <class F> inline void map(std::int64_t size, F&& f) {
  std::int64_t i = 0;
  for (; i + lanes <= size; i += lanes) f(i, lanes);
  if (i < size) f(i, static_cast<int>(size - i));
}

/// Stores v if `overwrite`, otherwise adds it.
inline void accumulate(Real* p, const Simd& v, bool overwrite, int n = lanes) {
  store(p, overwrite ? v : v + load(p, n), n);
}

namespace detail {

#if defined(__AVX512F__)
inline __m512 multiply_add(__m512 a, __m512 b, __m512 c) { return _mm512_fmadd_ps(a, b, c); }
inline __m512d multiply_add(__m512d a, __m512d b, __m512d c) { return _mm512_fmadd_pd(a, b, c); }
#endif
#if defined(__FMA__)
inline __m256 multiply_add(__m256 a, __m256 b, __m256 c) { return _mm256_fmadd_ps(a, b, c); }
inline __m256d multiply_add(__m256d a, __m256d b, __m256d c) { return _mm256_fmadd_pd(a, b, c); }
#endif
inline Simd multiply_add(const Simd& a, const Simd& b, const Simd& c) { return xsimd::fma(a, b, c); }

} // namespace detail

/// a b + c. Whole vectors have one rounding if the build's CPUs can do this; the rest of a row has two roundings. For a
/// product and a sum, and also for xsimd::fma, the compiler decides by the code around whether it fuses them. A formula
/// then has different bits in different places. With this function it does not.
inline Simd fused(const Simd& a, const Simd& b, const Simd& c, int n = lanes) {
#if defined(__FMA__)
  if constexpr (sizeof(Real) * lanes >= 32) {
    if (n == lanes) [[likely]]
      return detail::multiply_add(a.data, b.data, c.data);
    Simd product = a * b;
    asm("" : "+x"(product.data)); // the compiler cannot fuse it with the sum
    return product + c;
  }
#endif
  static_cast<void>(n);
  return detail::multiply_add(a, b, c);
}

/// Stores a b if `overwrite`, otherwise adds it by `fused`.
inline void accumulate_product(Real* p, const Simd& a, const Simd& b, bool overwrite, int n = lanes) {
  store(p, overwrite ? a * b : fused(a, b, load(p, n), n), n);
}
inline void accumulate(Real& p, Real v, bool overwrite) { p = overwrite ? v : p + v; }

/// The sum of all lanes.
inline Real lane_sum(const Simd& x) {
#if XSIMD_VERSION_MAJOR < 9
  return xsimd::hadd(x);
#else
  return xsimd::reduce_add(x);
#endif
}

/// The same bits, read as lanes of another type.
template <class To, class T> inline xsimd::batch<To> reinterpret_lanes(const xsimd::batch<T>& x) {
#if XSIMD_VERSION_MAJOR < 11
  return xsimd::bitwise_cast<xsimd::batch<To>>(x);
#else
  return xsimd::bitwise_cast<To>(x);
#endif
}

/// Sum over i of f(i, n). f returns a Simd whose lanes n and higher are zero.
template <class F> inline Real sum_over(std::int64_t size, F&& f) {
  Simd total(Real{0});
  map(size, [&](std::int64_t i, int n) { total += f(i, n); });
  return lane_sum(total);
}

/// y_i = f(i, n), in the first n lanes; returns the sum of y.
template <class F> inline Real store_and_sum(Real* y, std::int64_t size, F&& f) {
  return sum_over(size, [&](std::int64_t i, int n) {
    const Simd here = f(i, n);
    store(y + i, here, n);
    return n == lanes ? here : load(y + i, n); // the other lanes of f need not be 0
  });
}

/// Two sums over i at once: f(i, n, a, b) adds to the vectors a and b, and must add zeros to lanes n and higher.
template <class F> inline std::pair<Real, Real> sums_over(std::int64_t size, F&& f) {
  Simd a(Real{0}), b(Real{0});
  map(size, [&](std::int64_t i, int n) { f(i, n, a, b); });
  return {lane_sum(a), lane_sum(b)};
}

/// The largest lane. A NaN may be ignored.
inline Real largest_lane(const Simd& x) {
  using Quarter = xsimd::make_sized_batch_t<Real, 16 / sizeof(Real)>;
  constexpr int width = static_cast<int>(Quarter::size);
  alignas(64) Real all[lanes];
  x.store_aligned(all);
  Quarter best = Quarter::load_aligned(all);
  for (int i = width; i < lanes; i += width) best = xsimd::max(best, Quarter::load_aligned(all + i));
  best.store_aligned(all);
  for (int i = 1; i < width; ++i) all[0] = all[i] > all[0] ? all[i] : all[0];
  return all[0];
}

/// The largest of the n >= 1 values at p.
inline Real largest(const Real* p, std::int64_t n) {
  std::int64_t i = 0;
  Real m = p[0];
  if (n >= lanes) {
    Simd best = load(p);
    for (i = lanes; i + lanes <= n; i += lanes) best = xsimd::max(best, load(p + i));
    m = largest_lane(best);
  }
  for (; i < n; ++i) m = p[i] > m ? p[i] : m;
  return m;
}

} // namespace heed::HEED_REAL
