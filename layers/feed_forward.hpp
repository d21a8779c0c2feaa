// The position-wise feed-forward network of a Transformer block.
#pragma once

#include "layers/linear.hpp"

#include <optional>
#include <string>

namespace heed::HEED_REAL {

/// y = W2 f(W1 x + b1) + b2 with f one of relu, gelu (exact), gelu_tanh, silu; or, for swiglu,
/// y = W2 (silu(W1 x) * W3 x) (Shazeer 2020, arXiv 2002.05202). x and y: [..., width]; the hidden vector has `hidden`
/// entries, in swiglu's case twice. In training, a fraction `dropout` of what W2 meets is zeroed.
struct FeedForward {
  Linear expand;  ///< named `expand`; for swiglu it holds W1 and W3, one after the other
  Linear project; ///< named `project`
  Activation activation;
  bool gated;
  double dropout;

  /// `output_init` is what `project` starts with. Throws heed::Failed for an unknown activation.
  FeedForward(const Scope& scope, const std::string& activation, std::int64_t width, std::int64_t hidden, bool bias,
              const InitRule& output_init, double dropout = 0);

  Tensor operator()(Pass& pass, const Tensor& x) const;
};

} // namespace heed::HEED_REAL
