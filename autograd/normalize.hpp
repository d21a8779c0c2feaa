// Attention weights from rows of scores by row rules, the softmax as a rule, and Gumbel noise.
#pragma once

#include "autograd/ops.hpp"
#include "autograd/row_rule.hpp"

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

/// Independent samples -log(-log u) of the standard Gumbel distribution, without a gradient. An element depends only on
/// the key and on its index in `numbers`. The argmax of x + gumbel_noise is a sample of softmax(x) (Gumbel 1954).
Tensor gumbel_noise(Tape& tape, const Shape& shape, const RandomKey& key, const Numbering& numbers);

} // namespace heed::HEED_REAL
