// Softmax as a row policy, for tests of the kernels for any row policy. In the engine, softmax has its own kernel.
#pragma once

#include "autograd/row_policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace heed::HEED_REAL {

/// w_j = exp(s_j) / sum_k exp(s_k)
class SoftmaxRows final : public RowPolicy {
public:
  void weights(const Real* s, Real* w, std::int64_t n, Real*) const override {
    const Real top = *std::max_element(s, s + n);
    Real total = 0;
    for (std::int64_t j = 0; j < n; ++j) total += w[j] = std::exp(s[j] - top);
    for (std::int64_t j = 0; j < n; ++j) w[j] /= total;
  }
  void backward(const Real*, const Real* w, const Real* dw, Real* ds, std::int64_t n, Real*) const override {
    Real mean = 0;
    for (std::int64_t j = 0; j < n; ++j) mean += w[j] * dw[j];
    for (std::int64_t j = 0; j < n; ++j) ds[j] = w[j] * (dw[j] - mean);
  }
};

} // namespace heed::HEED_REAL
