// The dropout mask: one function for the dropout operation and for kernels that apply dropout themselves.
#pragma once

#include "autograd/kernels/random_blocks.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// Dropout factors of elements first .. first + n - 1: 0 with the given probability, otherwise 1 / (1 - probability).
inline void dropout_factors(double probability, const RandomKey& key, std::uint64_t first, std::int64_t n,
                            Real* factors) {
  const auto limit = static_cast<std::uint32_t>(probability * 0x1p32);
  const auto kept = static_cast<Real>(1 / (1 - probability));
  each_random_words(key, first, n, [&](std::int64_t i, const std::uint32_t* bits, std::int64_t some) {
    for (std::int64_t j = 0; j < some; ++j) factors[i + j] = bits[j] < limit ? Real{0} : kept;
  });
}

} // namespace heed::HEED_REAL
