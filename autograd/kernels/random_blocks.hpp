// Many blocks of random bits (Philox4x32) at once, in SIMD vectors, and what operations and kernels draw from them: the
// dropout mask, and numbers of the Gumbel distribution.
#pragma once

#include "autograd/kernels/simd.hpp"
#include "autograd/real.hpp"
#include "autograd/rng.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <xsimd/xsimd.hpp>

namespace heed::HEED_REAL {

namespace detail {

using Words = xsimd::batch<std::uint64_t>; // each lane holds a 32-bit word; its upper half is ignored
inline constexpr int words_at_once = static_cast<int>(Words::size);

/// The full 64-bit products of the lower halves.
template <class W> inline W whole_product(const W& x, const W& y) {
#if defined(__AVX512F__)
  if constexpr (sizeof(W) == 64) return W(_mm512_mul_epu32(x, y));
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(W) == 32) return W(_mm256_mul_epu32(x, y));
#endif
#if defined(__SSE2__)
  if constexpr (sizeof(W) == 16) return W(_mm_mul_epu32(x, y));
#endif
  const W low(0xffff'ffffULL);
  return (x & low) * (y & low);
}

/// The blocks random_block(first), random_block(first + 1), ...: `Groups` vectors of them.
template <int Groups> inline void random_vectors(const RandomKey& key, std::uint64_t first, std::uint32_t* words) {
  constexpr int n = words_at_once;
  alignas(64) std::uint64_t at[n];
  for (int i = 0; i < n; ++i) at[i] = first + static_cast<std::uint64_t>(i);
  const std::uint64_t place = step_and_stream(key);
  Words a[Groups], b[Groups], c[Groups], d[Groups];
  for (int g = 0; g < Groups; ++g) {
    a[g] = Words::load_aligned(at) + Words(static_cast<std::uint64_t>(g * n));
    b[g] = a[g] >> 32;
    c[g] = Words(place);
    d[g] = Words(place >> 32);
  }
  // The multipliers of Philox4x32 and the constants added to its keys in each round (Salmon et al. 2011, section 3.3).
  const Words m0(0xd251'1f53ULL), m1(0xcd9e'8d57ULL), grow0(0x9e37'79b9ULL), grow1(0xbb67'ae85ULL);
  Words k0(key.seed), k1(key.seed >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int g = 0; g < Groups; ++g) {
      const Words x = whole_product(a[g], m0), y = whole_product(c[g], m1);
      a[g] = (y >> 32) ^ b[g] ^ k0;
      c[g] = (x >> 32) ^ d[g] ^ k1;
      b[g] = y;
      d[g] = x;
    }
    k0 += grow0;
    k1 += grow1;
  }
  const Words low(0xffff'ffffULL);
  for (int g = 0; g < Groups; ++g) {
    alignas(64) std::uint64_t front[n], back[n];
    ((a[g] & low) | (b[g] << 32)).store_aligned(front);
    ((c[g] & low) | (d[g] << 32)).store_aligned(back);
    for (int i = 0; i < n; ++i) {
      // Little-endian, as in the block numbers.
      const std::uint32_t block[4] = {static_cast<std::uint32_t>(front[i]), static_cast<std::uint32_t>(front[i] >> 32),
                                      static_cast<std::uint32_t>(back[i]), static_cast<std::uint32_t>(back[i] >> 32)};
      std::memcpy(words + 4 * (g * n + i), block, sizeof block);
    }
  }
}

} // namespace detail

/// Calls f(i, words, n) for the random words of elements i .. i + n - 1 of `size` elements. Element 0 has the number
/// `first`. Each block supplies four elements. An element's word depends only on the element's number.
template <class F> inline void each_random_words(const RandomKey& key, std::uint64_t first, std::int64_t size, F&& f) {
  constexpr int groups = 2, at_once = 4 * groups * detail::words_at_once;
  alignas(64) std::uint32_t words[at_once];
  std::int64_t i = 0;
  while (i < size) {
    const std::uint64_t number = first + static_cast<std::uint64_t>(i), before = number % 4;
    const std::int64_t n = std::min(size - i, at_once - static_cast<std::int64_t>(before));
    if (n + static_cast<std::int64_t>(before) > 4) {
      detail::random_vectors<groups>(key, number / 4, words);
    } else {
      const RandomBlock block = random_block(key, number / 4);
      std::copy(block.begin(), block.end(), words);
    }
    f(i, words + before, n);
    i += n;
  }
}

/// Dropout factors of elements first .. first + n - 1: 0 with the given probability, otherwise 1 / (1 - probability).
inline void dropout_factors(double probability, const RandomKey& key, std::uint64_t first, std::int64_t n,
                            Real* factors) {
  const auto limit = static_cast<std::uint32_t>(probability * 0x1p32);
  const auto kept = static_cast<Real>(1 / (1 - probability));
  each_random_words(key, first, n, [&](std::int64_t i, const std::uint32_t* bits, std::int64_t some) {
    for (std::int64_t j = 0; j < some; ++j) factors[i + j] = bits[j] < limit ? Real{0} : kept;
  });
}

/// Independent Gumbel samples -log(-log u) for elements first .. first + n - 1 (Gumbel 1954).
inline void gumbel_numbers(const RandomKey& key, std::uint64_t first, std::int64_t n, Real* to) {
  each_random_words(key, first, n, [&](std::int64_t i, const std::uint32_t* bits, std::int64_t some) {
    // u lies in (0, 1), ends excluded, and is exact in both precisions.
    for (std::int64_t j = 0; j < some; ++j)
      to[i + j] = (static_cast<Real>(static_cast<std::int32_t>(bits[j] >> 9)) + Real(0.5)) * Real(0x1p-23);
  });
  map(n, [&](std::int64_t i, int m) { store(to + i, -xsimd::log(-xsimd::log(load(to + i, m))), m); });
}

} // namespace heed::HEED_REAL
