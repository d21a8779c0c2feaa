// Row rules in plain loops, for tests of the code that calls rules.
#pragma once

#include "autograd/row_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::HEED_REAL {

/// w_j = max(s_j, 0) / (1 + sum_k max(s_k, 0)). Some weights are 0; each depends on the whole row. The row's value is
/// the divisor.
class ShareRule final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real& divisor) const override {
    divisor = 1;
    for (std::int64_t j = 0; j < keys.n; ++j) divisor += std::max(s[j], Real{0});
    for (std::int64_t j = 0; j < keys.n; ++j) w[j] = std::max(s[j], Real{0}) / divisor;
  }
  void backward(Real divisor, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real*) const override {
    Real along = 0;
    for (std::int64_t j = 0; j < keys.n; ++j) along += w[j] * dw[j];
    for (std::int64_t j = 0; j < keys.n; ++j) ds[j] = s[j] > 0 ? (dw[j] - along) / divisor : Real{0};
  }
};

/// w_j = 1 / (n (1 + exp(-s_j))) for n keys, each key independently.
class LogisticRule final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real&) const override {
    for (std::int64_t j = 0; j < keys.n; ++j) w[j] = 1 / (static_cast<Real>(keys.n) * (1 + std::exp(-s[j])));
  }
  void backward(Real, const Real*, const Real* w, const Real* dw, Real* ds, RowKeys keys, Real*) const override {
    for (std::int64_t j = 0; j < keys.n; ++j) ds[j] = dw[j] * w[j] * (1 - static_cast<Real>(keys.n) * w[j]);
  }
};

/// 1 for the largest score. By definition, its gradient is dw, as if the weights were the scores. It uses both rows of
/// `scratch`.
class LargestRule final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real*, Real&) const override { row_one_hot(s, w, keys.n); }
  void backward(Real, const Real* s, const Real*, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override {
    Real* const second = scratch + keys.n;
    for (std::int64_t j = 0; j < keys.n; ++j) {
      scratch[j] = s[j] > -std::numeric_limits<Real>::infinity() ? Real{1} : Real{0};
      second[j] = dw[j];
    }
    for (std::int64_t j = 0; j < keys.n; ++j) ds[j] = scratch[j] * second[j];
  }
};

} // namespace heed::HEED_REAL
