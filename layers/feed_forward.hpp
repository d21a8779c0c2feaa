// The position-wise feed-forward network of a Transformer block, and the interface of its kinds. Each kind is one file
// in feed_forwards/, registered like scores.
#pragma once

#include "layers/linear.hpp"
#include "layers/required_function.hpp"
#include "options/variant.hpp"

#include <span>
#include <string>

namespace heed::HEED_REAL {

struct FeedForwardInfo {
  Variant about;
  Activation activation; ///< f
  bool gated;            ///< y = W2 (f(W1 x) * W3 x) instead of y = W2 f(W1 x)
  /// f of one number, for tests.
  RequiredFunction<double(double)> function;
};

/// All registered kinds, in Meson's order (generated).
std::span<const FeedForwardInfo* const> feed_forwards();
const FeedForwardInfo& feed_forward_info(const std::string& name);

/// y = W2 f(W1 x + b1) + b2; or, if gated, y = W2 (f(W1 x + b1) * (W3 x + b3)) + b2 (Shazeer 2020, arXiv 2002.05202). x
/// and y: [..., width]. The hidden vector has `hidden` entries; a gated kind has two such vectors. In training, dropout
/// with probability `dropout` is applied to the input of W2.
struct FeedForward {
  Linear expand;  ///< named `expand`; if gated, it holds W1, then W3
  Linear project; ///< named `project`
  Activation activation;
  bool gated;
  double dropout;

  /// `output_init` initialises `project`. Throws heed::Failed for an unknown kind.
  FeedForward(const Scope& scope, const std::string& kind, std::int64_t width, std::int64_t hidden, bool bias,
              const InitRule& output_init, double dropout = 0);

  Tensor operator()(Pass& pass, const Tensor& x) const;
};

} // namespace heed::HEED_REAL
