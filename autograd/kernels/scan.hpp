// Running sums within a SIMD vector, by the instructions of the build's CPUs or in a plain loop.
#pragma once

#include "autograd/kernels/simd.hpp"

namespace heed::HEED_REAL {

namespace detail {

#if defined(__AVX512F__)
// Moves lanes up (or down) by `by` lanes; zeros follow.
template <int by> inline __m512 lanes_up(__m512 x) {
  return _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_castps_si512(x), _mm512_setzero_si512(), 16 - by));
}
template <int by> inline __m512 lanes_down(__m512 x) {
  return _mm512_castsi512_ps(_mm512_alignr_epi32(_mm512_setzero_si512(), _mm512_castps_si512(x), by));
}
template <int by> inline __m512d lanes_up(__m512d x) {
  return _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_castpd_si512(x), _mm512_setzero_si512(), 8 - by));
}
template <int by> inline __m512d lanes_down(__m512d x) {
  return _mm512_castsi512_pd(_mm512_alignr_epi64(_mm512_setzero_si512(), _mm512_castpd_si512(x), by));
}
inline __m512 first_lane(__m512 x) { return _mm512_broadcastss_ps(_mm512_castps512_ps128(x)); }
inline __m512d first_lane(__m512d x) { return _mm512_broadcastsd_pd(_mm512_castpd512_pd128(x)); }
inline __m512 last_lane(__m512 x) { return _mm512_permutexvar_ps(_mm512_set1_epi32(15), x); }
inline __m512d last_lane(__m512d x) { return _mm512_permutexvar_pd(_mm512_set1_epi64(7), x); }

template <int by = 1> inline Simd prefix_lanes(const Simd& x) {
  if constexpr (by == lanes) return x;
  else return prefix_lanes<2 * by>(x + Simd(lanes_up<by>(x.data)));
}
template <int by = 1> inline Simd suffix_lanes(const Simd& x) {
  if constexpr (by == lanes) return x;
  else return suffix_lanes<2 * by>(x + Simd(lanes_down<by>(x.data)));
}
#elif defined(__AVX2__)
// Within each half of a vector, then from one half to the other.
template <int bytes> inline __m256 half_up(__m256 x) {
  return _mm256_castsi256_ps(_mm256_slli_si256(_mm256_castps_si256(x), bytes));
}
template <int bytes> inline __m256d half_up(__m256d x) {
  return _mm256_castsi256_pd(_mm256_slli_si256(_mm256_castpd_si256(x), bytes));
}
template <int bytes> inline __m256 half_down(__m256 x) {
  return _mm256_castsi256_ps(_mm256_srli_si256(_mm256_castps_si256(x), bytes));
}
template <int bytes> inline __m256d half_down(__m256d x) {
  return _mm256_castsi256_pd(_mm256_srli_si256(_mm256_castpd_si256(x), bytes));
}
inline __m256 first_of_halves(__m256 x) { return _mm256_permute_ps(x, 0); }
inline __m256d first_of_halves(__m256d x) { return _mm256_permute_pd(x, 0); }
inline __m256 last_of_halves(__m256 x) { return _mm256_permute_ps(x, 0xff); }
inline __m256d last_of_halves(__m256d x) { return _mm256_permute_pd(x, 0xf); }
template <int choice> inline __m256 halves(__m256 x) { return _mm256_permute2f128_ps(x, x, choice); }
template <int choice> inline __m256d halves(__m256d x) { return _mm256_permute2f128_pd(x, x, choice); }
constexpr int zero_low = 0x08, high_zero = 0x81, low_low = 0x00, high_high = 0x11;

inline Simd prefix_lanes(const Simd& x) {
  Simd y = x + Simd(half_up<sizeof(Real)>(x.data));
  if constexpr (sizeof(Real) == 4) y += Simd(half_up<8>(y.data));
  return y + Simd(halves<zero_low>(last_of_halves(y.data)));
}
inline Simd suffix_lanes(const Simd& x) {
  Simd y = x + Simd(half_down<sizeof(Real)>(x.data));
  if constexpr (sizeof(Real) == 4) y += Simd(half_down<8>(y.data));
  return y + Simd(halves<high_zero>(first_of_halves(y.data)));
}
inline auto first_lane(const Simd::register_type& x) { return halves<low_low>(first_of_halves(x)); }
inline auto last_lane(const Simd::register_type& x) { return halves<high_high>(last_of_halves(x)); }
#else
inline Simd prefix_lanes(const Simd& x) {
  alignas(64) Real all[lanes];
  x.store_aligned(all);
  for (int i = 1; i < lanes; ++i) all[i] += all[i - 1];
  return Simd::load_aligned(all);
}
inline Simd suffix_lanes(const Simd& x) {
  alignas(64) Real all[lanes];
  x.store_aligned(all);
  for (int i = lanes - 1; i > 0; --i) all[i - 1] += all[i];
  return Simd::load_aligned(all);
}
#endif

} // namespace detail

/// The sums of lanes 0 ... i, in lane i.
inline Simd prefix_sums(const Simd& x) { return detail::prefix_lanes(x); }
/// The sums of lanes i ... last, in lane i.
inline Simd suffix_sums(const Simd& x) { return detail::suffix_lanes(x); }

/// The first (or last) lane of x, in all lanes.
inline Simd from_first_lane(const Simd& x) {
#if defined(__AVX2__)
  return detail::first_lane(x.data);
#else
  return Simd(x.get(0));
#endif
}
inline Simd from_last_lane(const Simd& x) {
#if defined(__AVX2__)
  return detail::last_lane(x.data);
#else
  return Simd(x.get(lanes - 1));
#endif
}

} // namespace heed::HEED_REAL
