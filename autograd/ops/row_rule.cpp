#include "autograd/row_rule.hpp"

#include "autograd/kernels/exponential.hpp"
#include "autograd/kernels/simd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

// In most rows, the first score decides.
bool row_sees_nothing(const Real* x, std::int64_t n) {
  return std::all_of(x, x + n, [](Real s) { return s == -std::numeric_limits<Real>::infinity(); });
}

void RowRule::row_weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const {
  if (row_sees_nothing(s, keys.n)) std::fill_n(w, keys.n, Real{0});
  else weights(s, w, keys, scratch, value);
}

void RowRule::row_backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                           Real* scratch) const {
  if (row_sees_nothing(s, keys.n)) std::fill_n(ds, keys.n, Real{0});
  else backward(value, s, w, dw, ds, keys, scratch);
}

void RowRule::row_weights_and_backward(Real value, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                                       Real* scratch) const {
  if (row_sees_nothing(s, keys.n)) {
    std::fill_n(w, keys.n, Real{0});
    std::fill_n(ds, keys.n, Real{0});
  } else {
    weights_and_backward(value, s, w, dw, ds, keys, scratch);
  }
}

Real row_largest(const Real* x, std::int64_t n) { return largest(x, n); }

Real row_exponentials(const Real* x, Real shift, Real* y, std::int64_t n) {
  return store_and_sum(y, n, [&](std::int64_t j, int m) { return exponential(load(x + j, m) - shift); });
}

void row_from_top(const Real* x, Real factor, Real* y, std::int64_t n) {
  const Real top = largest(x, n);
  map(n, [&](std::int64_t j, int m) { store(y + j, (load(x + j, m) - top) * factor, m); });
  std::fill(y + n, y + whole_vectors(n), -std::numeric_limits<Real>::infinity());
}

Real row_sum(const Real* x, std::int64_t n) {
  return sum_over(n, [&](std::int64_t j, int m) { return load(x + j, m); });
}

Real row_dot(const Real* x, const Real* y, std::int64_t n) {
  return sum_over(n, [&](std::int64_t j, int m) { return load(x + j, m) * load(y + j, m); });
}

Real row_scale_and_dot(Real factor, Real* x, const Real* y, std::int64_t n) {
  return sum_over(n, [&](std::int64_t j, int m) {
    const Simd scaled = load(x + j, m) * factor;
    store(x + j, scaled, m);
    return scaled * load(y + j, m);
  });
}

bool row_has_nan(const Real* x, std::int64_t n) {
  xsimd::batch_bool<Real> nans(false);
  map(n, [&](std::int64_t j, int m) { nans = nans | xsimd::isnan(load(x + j, m)); });
  return xsimd::any(nans);
}

bool row_is_lost(const Real* x, Real* y, std::int64_t n) {
  if (!row_has_nan(x, n) && !std::isinf(largest(x, n))) return false;
  std::fill_n(y, n, std::numeric_limits<Real>::quiet_NaN());
  return true;
}

void row_one_hot(const Real* x, Real* y, std::int64_t n) {
  if (row_has_nan(x, n)) {
    std::fill_n(y, n, std::numeric_limits<Real>::quiet_NaN());
    return;
  }
  std::fill_n(y, n, Real{0});
  y[std::find(x, x + n, largest(x, n)) - x] = 1;
}

} // namespace heed::HEED_REAL
