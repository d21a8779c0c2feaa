// The Transformer block.
#pragma once

#include "layers/attention/attention.hpp"
#include "layers/feed_forward.hpp"
#include "layers/norm.hpp"

#include <optional>

namespace heed::HEED_REAL {

/// Attention, then, in the decoder of an encoder-decoder, attention to a memory, then the feed-forward network, each a
/// sublayer f around which norm and residual connection stand as [block] says (x: [B, T, width]):
///   norm = pre:   x + f(norm(x))        (Xiong et al. 2020, arXiv 2002.04745)
///   norm = post:  norm(x + f(x))        (Vaswani et al. 2017, arXiv 1706.03762)
///   norm = sandwich:  x + norm(f(norm(x)))   (Ding et al. 2021, arXiv 2105.13290)
///   norm = none:  x + f(x)
/// and without the residual connection, f(norm(x)), norm(f(x)), norm(f(norm(x))) and f(x). Both attentions count as
/// attention in `residual`. What is added may be multiplied with a number, fixed, learned from 0 on (ReZero: Bachlechner
/// et al. 2020, arXiv 2003.04887), or learned for each feature from 0.1 on (LayerScale: Touvron et al. 2021, arXiv
/// 2103.17239). A highway connection (Srivastava et al. 2015, arXiv 1505.00387) has y = T(x) * f + (1 - T(x)) * x in the
/// place of the sum y = x + f, with T(x) = sigmoid(W x + b) of x as the sublayer gets it, before any norm. In parallel (GPT-J: Wang and Komatsuzaki 2021), the sublayers are one: f(x) = attention(x) + ffn(x).
class Block {
public:
  struct Shape {
    std::int64_t width = 0, heads = 1;
    InitRule residual_init;                             ///< of the projections that end the sublayers
    std::shared_ptr<const RelativePosition> position{}; ///< that acts within attention; null: none
    std::int64_t longest = 0;                           ///< row that there will ever be; 0: not known
    std::int64_t memory_width = 0;   ///< of what cross attention attends to; 0: there is no cross attention
    std::int64_t longest_memory = 0; ///< likewise; 0: not known
  };

  Block(const Scope& scope, const LayerChoice& choice, const Shape& shape);

  /// What [attention] causal, prefix, window and dilation say is the block's own to add to the mask.
  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask) const;
  /// With cross attention to memory [B, Tm, memory_width].
  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask, const Tensor& memory, const Mask& memory_mask) const;

  /// What a block keeps of the steps of some rows.
  struct Past {
    std::unique_ptr<AttentionState> own; ///< null before the first step
    KVCache memory;
  };
  /// Keeps what cross attention needs of the memory.
  void remember(Pass& pass, const Tensor& memory, Past& past) const { cross_->remember(pass, memory, past.memory); }
  /// x [B, n, width]: positions that come behind those that `past` has, which gets them. What it gives is what the
  /// whole row gives at these positions, if `serves_steps`.
  Tensor step(Pass& pass, const Tensor& x, Past& past, const Mask& memory_mask) const;
  /// Does no position see what is behind it?
  bool serves_steps() const { return options_.causal && options_.prefix <= 1; }

private:
  template <class Attend, class Recall>
  Tensor sublayers(Pass& pass, const Tensor& x, const Attend& attend, const Recall& recall) const;

  /// What stands around a sublayer.
  struct ResidualWrapper {
    bool residual = false;
    std::optional<Norm> norm{}, behind{}; ///< before it or after the sum; and, in a sandwich, on what it gives
    std::optional<ParameterId> scale{};   ///< learned
    std::optional<Linear> gate{};         ///< of a highway connection
  };
  ResidualWrapper wrapper(const Scope& scope, const std::string& name, const LayerChoice& choice, std::int64_t width,
                          bool residual) const;
  template <class F> Tensor sublayer(Pass& pass, const Tensor& x, const ResidualWrapper& wrapper, const F& f) const;

  std::string name_;
  bool post_, parallel_;
  double scale_; ///< of what is added, where it is fixed
  AttentionOptions options_;
  double dropout_;
  MultiHeadAttention attention_;            // named `attention`
  std::optional<MultiHeadAttention> cross_; // named `cross_attention`
  std::optional<FeedForward> ffn_;          // named `ffn`
  ResidualWrapper attention_wrapper_, cross_wrapper_, ffn_wrapper_;
};

} // namespace heed::HEED_REAL
