// Which elements dropout keeps: one rule for the operation and for kernels that drop out by themselves.
#pragma once

#include "autograd/real.hpp"
#include "autograd/rng.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// Factors of elements first .. first + n - 1: 0 with the given probability, 1 / (1 - probability) otherwise. One
/// random block decides four elements; which four depends on their number alone.
inline void dropout_factors(double probability, const RandomKey& key, std::uint64_t first, std::int64_t n,
                            Real* factors) {
  const auto limit = static_cast<std::uint64_t>(probability * 0x1p32);
  const auto kept = static_cast<Real>(1 / (1 - probability));
  for (std::uint64_t i = first / 4 * 4, end = first + static_cast<std::uint64_t>(n); i < end; i += 4) {
    const RandomBlock bits = random_block(key, i / 4);
    for (std::uint64_t j = 0; j < 4; ++j)
      if (i + j >= first && i + j < end) factors[i + j - first] = bits[j] < limit ? Real{0} : kept;
  }
}

} // namespace heed::HEED_REAL
