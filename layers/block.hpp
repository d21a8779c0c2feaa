// The Transformer block: attention or another sequence mixer, optional cross attention and feed-forward network, with
// norms and residual connections.
#pragma once

#include "layers/attention/attention.hpp"
#include "layers/feed_forward.hpp"
#include "layers/norm.hpp"

#include <memory>
#include <optional>

namespace heed::HEED_REAL {

/// A Transformer block has up to three sublayers: attention, or another sequence mixer (Mixer); in the decoder of an
/// encoder-decoder, cross attention to the encoder output; and the feed-forward network. [block] decides where norm and
/// residual connection are around each sublayer f (x: [B, T, width]):
///   norm = pre:   x + f(norm(x))        (Xiong et al. 2020, arXiv 2002.04745)
///   norm = post:  norm(x + f(x))        (Vaswani et al. 2017, arXiv 1706.03762)
///   norm = sandwich:  x + norm(f(norm(x)))   (sandwich-LN: Ding et al. 2021, arXiv 2105.13290; also called Peri-LN)
///   norm = output:  x + norm(f(x))      (OLMo 2: OLMo team 2025, arXiv 2501.00656)
///   norm = none:  x + f(x)
/// Without the residual connection: f(norm(x)), norm(f(x)), norm(f(norm(x))), norm(f(x)) and f(x). In the option
/// `residual`, cross attention and other mixers count as attention, too. The summand f may be scaled: by a fixed
/// number, by a learned number that starts at 0 (ReZero: Bachlechner et al. 2020, arXiv 2003.04887), or by a learned
/// number per feature that starts at 0.1 (LayerScale: Touvron et al. 2021, arXiv 2103.17239). A highway connection
/// (Srivastava et al. 2015, arXiv 1505.00387) replaces the sum y = x + f by y = T(x) * f + (1 - T(x)) * x, with T(x) =
/// sigmoid(W x + b). T reads the sublayer's input before any norm. In a parallel block (GPT-J: Wang and Komatsuzaki
/// 2021), the sublayers are one:
///   f(x) = attention(x) + ffn(x)
class Block {
public:
  struct Sizes {
    std::int64_t width = 0, heads = 1;
    InitRule residual_init;                             ///< initial values of the last projection of each sublayer
    std::shared_ptr<const RelativePosition> position{}; ///< acts within attention; null: none
    std::int64_t longest = 0;                           ///< upper bound on the sequence length; 0: unknown
    std::int64_t trained = 0;                           ///< the same in training; 0: `longest`
    std::int64_t memory_width = 0;   ///< width of the encoder output for cross attention; 0: no cross attention
    std::int64_t longest_memory = 0; ///< upper bound on the length of the encoder output; 0: unknown
    std::int64_t trained_memory = 0; ///< the same in training; 0: `longest_memory`
    std::int64_t layer = 0;          ///< the block's index in its stack
    std::int64_t layers = 1;         ///< the number of blocks in its stack
    bool shared_layers = false;      ///< do all blocks have the parameters of the first one?
    bool hands_on_values = false;    ///< are the values of its self attention stored for later blocks?
    std::int64_t registers = 0;      ///< the first positions of each sequence, as in MultiHeadAttention::Sizes
    std::int64_t patches_in_row = 0; ///< likewise
  };

  Block(const Scope& scope, const LayerChoice& choice, const Sizes& sizes);

  /// The block adds [attention] causal, prefix, window and dilation to the mask itself. `first_values`: the values of
  /// the stack's first block, as in MultiHeadAttention.
  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask, Tensor* first_values = nullptr) const;
  /// With cross attention to the encoder output `memory` [B, Tm, memory_width].
  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask, const Tensor& memory, const Mask& memory_mask,
                    Tensor* first_values = nullptr) const;

  /// The state that a block stores between decoding steps, for some sequences.
  struct Past {
    std::unique_ptr<MixerState> own; ///< null before the first step
    KVCache memory;

    /// As MixerState::numbers, with the keys and values of the encoder output.
    std::int64_t numbers(std::int64_t more) const { return own->numbers(more) + memory.numbers(0); }
  };
  /// Stores the keys and values of the encoder output for cross attention.
  void encode_memory(Pass& pass, const Tensor& memory, Past& past) const {
    cross_->encode_memory(pass, memory, past.memory);
  }
  /// Decoding: x [B, n, width] are the positions after those stored in `past`; they are appended to `past`. If
  /// `serves_steps`, the result equals the block's result for the whole sequence at these positions. The offset of
  /// `memory_mask` is the position of the first of them, for formulas.
  Tensor step(Pass& pass, const Tensor& x, Past& past, const Mask& given, const Mask& memory_mask,
              Tensor* first_values = nullptr) const;
  /// The width of the values that this block stores for later blocks; 0: none.
  std::int64_t stored_values() const { return hands_on_values_ ? mixer_->values_width() : 0; }
  /// True if no position reads a later one.
  bool serves_steps() const { return mixer_->serves_steps(); }

private:
  // `registers`: the number of positions of x that observers do not see
  template <class Attend, class AttendMemory>
  Tensor sublayers(Pass& pass, const Tensor& x, std::int64_t registers, const Attend& attend,
                   const AttendMemory& attend_memory) const;

  /// The residual connection, norms, scale and gate around a sublayer.
  struct ResidualWrapper {
    bool residual = false;
    /// `norm`: before the sublayer or after the sum; `behind`: on the sublayer's output
    std::unique_ptr<Norm> norm{}, behind{};
    std::optional<ParameterId> scale{}; ///< learned scale
    std::optional<Linear> gate{};       ///< gate of a highway connection
  };
  ResidualWrapper wrapper(const Scope& scope, const std::string& name, const LayerChoice& choice, std::int64_t width,
                          bool residual) const;
  template <class F> Tensor sublayer(Pass& pass, const Tensor& x, const ResidualWrapper& wrapper, const F& f) const;

  std::string name_;
  bool post_, parallel_;
  double scale_; ///< fixed scale of the summand
  AttentionOptions options_;
  double dropout_;
  bool hands_on_values_;
  std::int64_t registers_;
  std::unique_ptr<Mixer> mixer_;            // named `attention` if it is one, otherwise `mixer`
  std::optional<MultiHeadAttention> cross_; // named `cross_attention`
  std::optional<FeedForward> ffn_;          // named `ffn`
  ResidualWrapper mixer_wrapper_, cross_wrapper_, ffn_wrapper_;
};

} // namespace heed::HEED_REAL
