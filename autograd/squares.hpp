// Sums of squares with a fixed order of additions, so the bits are the same in every thread and process.
#pragma once

#include "autograd/real.hpp"

#include <cstdint>

namespace heed::HEED_REAL {

/// The sum of squares of n values, in double. It uses sixteen running sums, which are added at the end in a fixed
/// order.
inline double sum_of_squares(const Real* p, std::int64_t n) {
  constexpr std::int64_t chains = 16;
  double sums[chains] = {};
  std::int64_t i = 0;
  for (; i + chains <= n; i += chains)
    for (std::int64_t j = 0; j < chains; ++j) {
      const double x = p[i + j];
      sums[j] += x * x;
    }
  for (std::int64_t j = 0; i + j < n; ++j) {
    const double x = p[i + j];
    sums[j] += x * x;
  }
  double total = 0;
  for (double s : sums) total += s;
  return total;
}

} // namespace heed::HEED_REAL
