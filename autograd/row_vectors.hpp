// Vector operations for row rules: a loop over a row that computes many of its values with each instruction.
//
//   map(n, [&](std::int64_t j, int m) { store(w + j, exponential(load(s + j, m)) * factor, m); });
//
// computes w_j = factor exp(s_j) for j = 0 ... n - 1. `load(p, m)` and `store(p, v, m)` handle the first m values, so
// the same line serves whole vectors (m = lanes) and the rest of the row. Lanes m and higher of a loaded vector are 0.
//
//   vectors     Simd (of Real), lanes, whole_vectors
//   memory      load, store
//   loops       map; sum_over, sums_over and store_and_sum add up what the loop's function returns
//   a row       largest
//   functions   +, -, *, / and comparisons; exponential, bounded_exponential (of x < 88), exponential_less_one,
//               exponential_with_less_one, logistic, softplus, tanh_of; and by xsimd: max, min, abs, sqrt, log, fms,
//               isnan, select(condition, a, b), any(condition), which are found without a namespace
//   scans       prefix_sums, suffix_sums, from_first_lane, from_last_lane: within a vector
//   in double   WideSimd, load_wide, store_wide, map_wide, wide_sum: whatever Real is
#pragma once

#include "autograd/kernels/activations.hpp"
#include "autograd/kernels/exponential.hpp"
#include "autograd/kernels/scan.hpp"
#include "autograd/kernels/simd.hpp"
#include "autograd/row_rule.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace heed::HEED_REAL {

/// A vector of doubles for every Real, for functions that lose digits, such as powers.
using WideSimd = xsimd::batch<double>;
inline constexpr int wide_lanes = static_cast<int>(WideSimd::size);

/// The first n values at p as doubles. The other lanes are `rest`.
inline WideSimd load_wide(const Real* p, int n, double rest) {
  alignas(64) double all[wide_lanes];
  std::fill_n(all, wide_lanes, rest);
  std::copy_n(p, n, all);
  return WideSimd::load_aligned(all);
}

/// Writes the first n lanes, rounded to Real.
inline void store_wide(Real* p, const WideSimd& v, int n) {
  alignas(64) double all[wide_lanes];
  v.store_aligned(all);
  for (int i = 0; i < n; ++i) p[i] = static_cast<Real>(all[i]);
}

/// As `map`, in steps of `wide_lanes`.
template <class F> inline void map_wide(std::int64_t size, F&& f) {
  for (std::int64_t i = 0; i < size; i += wide_lanes)
    f(i, static_cast<int>(std::min<std::int64_t>(wide_lanes, size - i)));
}

/// The sum of all lanes, from the first to the last.
inline double wide_sum(const WideSimd& x) {
  alignas(64) double all[wide_lanes];
  x.store_aligned(all);
  return std::accumulate(all, all + wide_lanes, 0.0);
}

} // namespace heed::HEED_REAL
