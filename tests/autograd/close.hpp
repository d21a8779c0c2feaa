// Test support: tolerances, and the distance between computed and expected values.
#pragma once

#include "autograd/real.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace heed::HEED_REAL {

/// Allowed rounding error of a short computation in this precision.
inline constexpr double rounding = std::is_same_v<Real, double> ? 1e-12 : 2e-6;
/// Allowed difference from PyTorch's double precision values, which the fixtures hold with twelve digits.
inline constexpr double agreement = std::is_same_v<Real, double> ? 1e-9 : 1e-5;

inline constexpr Real infinity = std::numeric_limits<Real>::infinity();
inline constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

/// The largest |found - expected| / max(1, |expected|); infinite if the lengths differ or a value is NaN.
template <class A, class B> double distance(const std::vector<A>& found, const std::vector<B>& expected) {
  double worst = found.size() == expected.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    const double a = static_cast<double>(found[i]), b = static_cast<double>(expected[i]);
    const double d = a == b ? 0 : std::abs(a - b) / std::max(1.0, std::abs(b));
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  return worst;
}

} // namespace heed::HEED_REAL
