// Random numbers of the Gumbel distribution: one function for the Gumbel operation and for kernels that add noise
// themselves.
#pragma once

#include "autograd/kernels/random_blocks.hpp"
#include "autograd/kernels/simd.hpp"

namespace heed::HEED_REAL {

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
