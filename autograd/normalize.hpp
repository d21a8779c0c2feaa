// Row rules that turn rows of scores into attention weights: softmax, sparsemax, sigmoid, sum and hardmax, and Gumbel
// noise.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/row_rule.hpp"

#include <optional>

namespace heed::HEED_REAL {

/// The weights of every row of scores x [B, H, Tq, Tk] by row rules, over the keys that the query may attend to; all
/// other weights are 0. A row that may attend to no key gives zeros and a zero gradient. `name` is the name in error
/// messages.
Tensor normalize_rows(const char* name, const Tensor& x, const Mask& mask, const RowRules& rules);

/// w_j = exp(s_j) / sum_k exp(s_k), for scores without a softmax kernel of their own. A row with only scores of minus
/// infinity gives zeros.
class SoftmaxRule final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const override;
  void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override;
  void weights_and_backward(Real value, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* scratch) const override;
};

/// The point of the simplex that is nearest to the scores (Martins and Astudillo 2016, arXiv 1602.02068):
///   w_j = max(s_j - t, 0) with t such that the weights sum to 1
/// It is computed exactly, by Michelot's algorithm (1986). The gradient is ds_j = dw_j - mean of dw over the weights
/// that are not 0, and 0 where the weight is 0.
class SparsemaxRule final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const override;
  void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override;
};

/// w_j = 1 / (1 + exp(-(s_j + bias + own))), independently for each key (Ramapuram et al. 2024, arXiv 2409.04431).
/// Without a bias, it is -log n as in that paper, where n is the number of keys that the row may attend to. The weights
/// then start with a sum near 1. `own` is a second bias, such as a head's.
class SigmoidRule final : public RowRule {
public:
  explicit SigmoidRule(std::optional<Real> bias, Real own = 0) : bias_(bias), own_(own) {}
  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const override;
  void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override;

  /// The derivative of sum_j dw_j w_j with respect to `own`.
  double derivative(const Real*, const Real*, const Real*, const Real* ds, RowKeys keys) const {
    return static_cast<double>(row_sum(ds, keys.n));
  }

private:
  std::optional<Real> bias_;
  Real own_;
};

/// w_j = max(s_j, 0) / sum_k max(s_k, 0), so nonnegative scores are only divided by their sum. A row without a positive
/// score gives zeros.
class SumRule final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const override;
  void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override;
  void weights_and_backward(Real value, const Real* s, Real* w, const Real* dw, Real* ds, RowKeys keys,
                            Real* scratch) const override;
};

/// 1 for the largest score (the first one if several are equal), 0 elsewhere. Its gradient is by definition the
/// gradient of masked_softmax at the same scores: the straight-through estimator (Bengio, Leonard and Courville 2013,
/// arXiv 1308.3432).
class HardmaxRule final : public RowRule {
public:
  void weights(const Real* s, Real* w, RowKeys keys, Real* scratch, Real& value) const override;
  void backward(Real value, const Real* s, const Real* w, const Real* dw, Real* ds, RowKeys keys,
                Real* scratch) const override;
};

/// Independent samples -log(-log u) of the standard Gumbel distribution, without a gradient. An element depends only on
/// the key and on its index in `numbers`. The argmax of x + gumbel_noise is a sample of softmax(x) (Gumbel 1954).
Tensor gumbel_noise(Tape& tape, const Shape& shape, const RandomKey& key, const Numbering& numbers);

} // namespace heed::HEED_REAL
