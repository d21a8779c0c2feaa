// A sequence mixer with a matrix of state for each head, as linear attention, retention, GLA, HGRN2, Mamba-2 and the
// delta rule's networks have it. The options of [mixer] say what it is made of.
#pragma once

#include "autograd/causal_convolution.hpp"
#include "autograd/linear_recurrence.hpp"
#include "layers/linear.hpp"
#include "layers/mixer.hpp"
#include "layers/mixers/decay.hpp"
#include "layers/mixers/feature.hpp"
#include "layers/mixers/low_rank_linear.hpp"

#include <memory>
#include <optional>

namespace heed::HEED_REAL {

/// The sizes of a recurrence, worked out from [mixer] and the block's.
struct RecurrenceWidths {
  std::int64_t heads = 1, key_heads = 1; ///< of states; of queries and keys, which equal groups of heads share
  std::int64_t key_width = 0, value_width = 0;
  std::int64_t steps = 1; ///< the keys of a token in a head

  std::int64_t queries() const { return key_heads * key_width; }
  std::int64_t keys() const { return steps * key_heads * key_width; }
  std::int64_t values() const { return steps * heads * value_width; }
};
/// There is no `wrong_recurrence` of these.
RecurrenceWidths recurrence_widths(const MixerOptions& options, const MixerSizes& sizes);
/// Why there is no recurrence with these choices and sizes.
Refusal wrong_recurrence(const LayerChoice& choice, const MixerSizes& sizes, const ValuesByName& others);

/// The record of a kind of recurrence, which only sets defaults: `about` with what all kinds share.
MixerInfo recurrence_kind(Variant about);

/// For each head, a state S [K, V] is carried from token to token (autograd/linear_recurrence.hpp):
///   S_t = Diag(exp(g_t)) S_(t-1) + k_t (w_t v_t - (b_t k_t)^T Diag(exp(g_t)) S_(t-1))^T     o_t = S_t^T q_t
/// From x [B, T, width]: q, k, v = W x, each [heads, width of a head]; then a causal convolution along the tokens with
/// SiLU, or SiLU alone; then, for queries and keys, a feature map, a norm and a rotation by the position; g by the
/// decay (mixers/decay.hpp); the strengths of erase, b, and write, w, or none. From o: the division by q . (sum of
/// keys), a skip D v_t, an output gate, a norm, and W_o.
/// With mixer.steps = n (DeltaProduct: Siems et al. 2025, arXiv 2502.10297), a token has n keys k with their v, b and
/// w: n steps of the recurrence, of which the first one decays, and o is read after the last one.
class RecurrentMixer final : public Mixer {
public:
  RecurrentMixer(const Scope& scope, const LayerChoice& choice, const MixerSizes& sizes, const InitRule& output_init);

  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask, Tensor* first_values) const override;
  Tensor step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<MixerState>& past,
              Tensor* first_values) const override;
  bool serves_steps() const override { return true; }
  /// The weights of all pairs of tokens, without a gradient: o_i is the sum over j of weights_ij v_j, with values after
  /// mixer.write_gate = "channel", before skip, gate and norm. [B, heads, T, T], 0 for later tokens; they may be
  /// negative. With mixer.steps > 1, a token's weight is the sum of those of its values.
  Tensor weights(Pass& pass, const Tensor& x, const Mask& mask) const;

private:
  class State;
  // What the maps make of the tokens, [B, T, ...]. A token has S = mixer.steps keys.
  struct Inputs {
    Tensor projected;     // queries, keys and values side by side, before the convolution
    Tensor queries;       // [B, heads, T, width]
    Tensor keys, values;  // [B, heads, T * S, width]
    Tensor joined_values; // [B, T, S * heads * width]
    Decayed decay;
    Tensor erase{}, write{}; // strengths, [B, heads, T * S, 1 or the width of keys] and [B, heads, T * S, 1]
  };
  // `start`: what is before the first token, whose position counts registers.
  Inputs inputs(Pass& pass, const Tensor& x, const ConvolutionStart& start) const;
  // A number of each token, head and step, [B, T, S * heads], as a column of each head, [B, heads, T * S, 1].
  Tensor column_of_steps(const Tensor& x) const;
  // Null: no feature map.
  Tensor features_of_heads(Pass& pass, const Tensor& x, const Feature* feature, std::int64_t first, Rotated of) const;
  // What the recurrence takes, with these values; its outputs; and the results.
  LinearRecurrenceOperands operands(const Inputs& inputs, const Tensor& values) const;
  RecurrenceBounds bounds(Pass& pass, const Mask& mask, const Tensor& of_tokens, std::int64_t first) const;
  Tensor sums(Pass& pass, const Inputs& inputs, const Tensor& values, const Mask& mask) const;
  Tensor weights(Pass& pass, const Inputs& inputs, const Mask& mask) const;
  Tensor finish(Pass& pass, const Tensor& x, const Inputs& inputs, const Tensor& of_heads) const;

  AttentionPlace place_; // an observer sees the weights of all pairs of tokens
  MixerOptions options_;
  RecurrenceWidths widths_;
  std::int64_t registers_;
  std::optional<Linear> all_, output_;       // named `qkv` and `output`
  std::optional<LowRankLinear> gate_;        // named `gate_low_rank` and `gate`
  std::optional<Linear> erase_, write_gate_; // named as the options
  std::optional<ParameterId> taps_, taps_bias_, skip_, gain_;
  std::unique_ptr<Feature> query_feature_, key_feature_;
  std::unique_ptr<Decay> decay_;
  std::shared_ptr<const RelativePosition> rotation_;
  Real scale_ = 1;
};

} // namespace heed::HEED_REAL
