// The Transformer block.
#pragma once

#include "layers/attention/attention.hpp"
#include "layers/feed_forward.hpp"
#include "layers/norm.hpp"

#include <optional>

namespace heed::HEED_REAL {

/// Attention, then the feed-forward network, each a sublayer f around which norm and residual connection stand as [block]
/// says (x: [B, T, width]):
///   norm = pre:   x + f(norm(x))        (Xiong et al. 2020, arXiv 2002.04745)
///   norm = post:  norm(x + f(x))        (Vaswani et al. 2017, arXiv 1706.03762)
///   norm = none:  x + f(x)
/// and without the residual connection, f(norm(x)), norm(f(x)) and f(x).
class Block {
public:
  struct Shape {
    std::int64_t width = 0, heads = 1;
    Init residual_init;   ///< of the projections that end the two sublayers
    std::shared_ptr<const RelativePosition> position{};  ///< that acts within attention; null: none
    std::int64_t longest = 0;  ///< row that there will ever be; 0: not known
  };

  Block(const Scope& scope, const LayerChoice& choice, const Shape& shape);

  /// What [attention] causal, prefix and window say is the block's own to add to the mask.
  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask) const;

private:
  bool residual_attention_, residual_ffn_, pre_, post_;
  AttentionOptions options_;
  double dropout_;
  std::optional<Norm> attention_norm_, ffn_norm_;
  MultiHeadAttention attention_;
  FeedForward ffn_;
};

} // namespace heed::HEED_REAL
