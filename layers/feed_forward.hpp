// The position-wise feed-forward network of a Transformer block.
#pragma once

#include "layers/linear.hpp"

#include <optional>
#include <string>

namespace heed::HEED_REAL {

/// y = W2 f(W1 x + b1) + b2, where f is relu, gelu (exact), gelu_tanh or silu. For swiglu: y = W2 (silu(W1 x) * W3 x)
/// (Shazeer 2020, arXiv 2002.05202). x and y: [..., width]. The hidden vector has `hidden` entries; swiglu has two such
/// vectors. In training, dropout with probability `dropout` is applied to the input of W2.
struct FeedForward {
  Linear expand;  ///< named `expand`; for swiglu it holds W1, then W3
  Linear project; ///< named `project`
  Activation activation;
  bool gated;
  double dropout;

  /// `output_init` initialises `project`. Throws heed::Failed for an unknown activation.
  FeedForward(const Scope& scope, const std::string& activation, std::int64_t width, std::int64_t hidden, bool bias,
              const InitRule& output_init, double dropout = 0);

  Tensor operator()(Pass& pass, const Tensor& x) const;
};

} // namespace heed::HEED_REAL
