// Attention as a layer without projections (Attention), and multi-head attention with projections (MultiHeadAttention),
// for whole sequences and for step-by-step decoding.
#pragma once

#include "layers/attention/algorithm.hpp"
#include "layers/attention/kv_cache.hpp"
#include "layers/attention/part.hpp"
#include "layers/attention/projection.hpp"
#include "layers/exclusions.hpp"
#include "layers/layer_options.hpp"
#include "layers/linear.hpp"
#include "layers/mixer.hpp"
#include "layers/norm.hpp"

#include <memory>
#include <optional>

namespace heed::HEED_REAL {

/// Keys and values that many calls attend to, for example at every step of a decoder. The score's transformation of the
/// keys is computed only once.
struct AttentionMemory {
  Tensor keys, values; ///< [B, Tk, Dk], [B, Tk, Dv]
  /// The form's keys, and one key with which a query's form is computed. Empty without a form.
  Tensor transformed, one_key;
  const PackedMemory* packed = nullptr; ///< keys and values packed for the kernels; null: each call packs them again
};

/// The given mask, combined with [attention] causal, prefix, window and dilation, as self attention uses it. With a
/// window of n, a query sees n keys on each side, the last at distance n * dilation (Beltagy et al. 2020, arXiv
/// 2004.05150, section 3.1).
Mask self_attention_mask(const AttentionOptions& options, const Mask& given);

/// Attention per head, without projections: y_i = sum_j w_ij v_j with w_i = normaliser(s(q_i, k_1), s(q_i, k_2), ...).
///
///   Attention attend(scope, choice, {.heads = 1, .query_width = 16, .key_width = 24});
///   Tensor y = attend(pass, {.queries = q, .values = v, .keys = k, .mask = {.causal = true}});
///
/// MultiHeadAttention adds the projections.
class Attention {
public:
  /// `scope` is the scope of the layer that owns this attention. The score's parameters are added in its part `score`,
  /// the normaliser's in `normalizer`. From `choice` it uses score, normalizer, dropout, their options, the formulas
  /// and the parts that every attention may have. It does not apply `causal`, `prefix`, `window` and `dilation`: the
  /// caller puts them into the mask (self_attention_mask). `kind` only affects what observers are told. Throws
  /// heed::Failed if the score needs equal widths of queries and keys and they differ.
  Attention(const Scope& scope, const LayerChoice& choice, const ScoreSizes& sizes,
            AttentionPlace::Kind kind = AttentionPlace::Kind::self);

  /// Returns [B, Tq, Dv], or [B, H, Tq, Dv] if the inputs have a head axis; with lambda, H / 2 heads. `weights`, if
  /// given, receives the weights before dropout, [B, H, Tq, Tk], and gradients flow through them. (An observer gets the
  /// weights through the Pass, without gradients.) The first algorithm that serves the problem computes it
  /// (layers/attention/algorithm.hpp). Memory grows linearly with the lengths; with `weights` or with factors, it
  /// grows with their product. This layer, the position and the data that the mask points to must live until the
  /// backward pass is done.
  Tensor operator()(Pass& pass, const AttentionInputs& inputs, Tensor* weights = nullptr) const;

  /// Does the normaliser depend on the order of the keys?
  bool orders_keys() const { return normalizer_->is_ordered(); }

  /// `start` makes the decoding state for a decoding that begins with these inputs (four axes), if the algorithm that
  /// serves them has a state of its own; null if it only needs keys and values. `step` returns the result for inputs at
  /// the positions after those that the state has seen.
  std::unique_ptr<MixerState> start(const AttentionInputs& inputs) const;
  Tensor step(Pass& pass, const AttentionInputs& inputs, MixerState& state) const;

  /// The keys and values that several calls share, for one head: values [B, Tk, Dv], keys [B, Tk, Dk] (if not given,
  /// the values).
  AttentionMemory encode_memory(Pass& pass, const Tensor& values, const std::optional<Tensor>& keys = {}) const;
  /// The same result as the call above with the keys and values of `memory`: queries [B, Tq, Dq], result [B, Tq, Dv].
  Tensor operator()(Pass& pass, const Tensor& queries, const AttentionMemory& memory, const Mask& mask,
                    const Tensor* factors = nullptr) const;

private:
  AttentionProblem problem(const AttentionInputs& inputs) const;
  void give_form(Pass& pass, AttentionProblem& problem, bool keys_rotated) const;
  Tensor run(Pass& pass, AttentionProblem& problem, Tensor* weights) const;
  // What remains to be done with an algorithm's result.
  Tensor heads_of(Pass& pass, const AttentionProblem& problem, const Tensor& y) const;

  AttentionPlace place_;
  ScoreSizes sizes_;
  std::unique_ptr<Score> score_;
  std::unique_ptr<Normalizer> normalizer_;
  std::unique_ptr<AttentionFormula> formula_; // null: none
  AttentionParts parts_;                      // those that act on pairs
  double dropout_;
};

/// Multi-head attention with projections (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2):
///   y = W_o concat_h(attention(W_q^h x_q, W_k^h x_k, W_v^h x_v)) + b_o
/// The projections before the heads are a family of variants (Projection). With the projection `dense`, self attention
/// has one matrix for queries, keys and values (`qkv`), or two if heads share keys and values (`query`, `key_value`;
/// Ainslie et al. 2023, arXiv 2305.13245), and cross attention has `query`, `key` and `value`. Parts of attention
/// (AttentionPart) act on queries, keys and values, on scores, and on the heads' outputs. A sequence may begin with
/// registers.
class MultiHeadAttention final : public Mixer {
public:
  using Sizes = MixerSizes;

  /// The widths of one head's queries and values, with which a position is made. Each map of differential attention
  /// counts as a head. Throws heed::Failed if a width is not divided by the heads.
  static RelativeSizes relative_sizes(const LayerChoice& choice, const Sizes& sizes);

  /// Why there is no attention with these choices and sizes: an exclusion (see `excluded`), or sizes or formulas that
  /// don't fit. `others`: the values of further options outside of blocks; model.registers is that of `sizes`.
  static Refusal refusal_of(const LayerChoice& choice, const Sizes& sizes, ValuesByName others = {});

  /// `output_init` initialises the output projection (`output`). A head_width of 0 means width / heads; value_width
  /// likewise. Throws heed::Failed if there is a `refusal_of` these choices and sizes.
  MultiHeadAttention(const Scope& scope, const LayerChoice& choice, const Sizes& sizes, const InitRule& output_init);

  /// Self attention: x [B, T, width]. `first_values` is V_1 of these positions, [B, T, values_width()]: with
  /// Sizes::hands_on_values, V_1 is written to it (copied if it has memory already); parts that use it read it.
  /// Otherwise it may be null.
  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask, Tensor* first_values = nullptr) const override;
  /// Cross attention: x [B, Tq, width], encoder output `memory` [B, Tk, memory_width].
  Tensor operator()(Pass& pass, const Tensor& x, const Tensor& memory, const Mask& mask) const;

  /// Self attention for decoding: x [B, n, width] are the positions after those stored in `past`. They attend to the
  /// stored positions and to themselves. `past` is extended by x, and is created if it is null. The mask's offset is
  /// set here. The result equals attention over the whole sequence at these positions, if no position attends to later
  /// ones.
  Tensor step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<MixerState>& past,
              Tensor* first_values = nullptr) const override;
  bool serves_steps() const override { return serves_steps_; }

  /// Cross attention in two parts: `encode_memory` stores the keys and values of the encoder output in `to`,
  /// `attend_memory` attends to them. For formulas, the mask's offset is the position of the first query.
  void encode_memory(Pass& pass, const Tensor& memory, KVCache& to) const;
  Tensor attend_memory(Pass& pass, const Tensor& x, const KVCache& memory, const Mask& mask) const;

  /// The width of the projected values of all heads.
  std::int64_t values_width() const override { return head_sizes_.values(); }
  /// How many tokens before a token its query, key and value are made of, besides the token itself.
  std::int64_t earlier_tokens() const { return earlier_tokens_; }

private:
  class StateWithParts;
  // x: the positions of a sequence from `first` on, where registers count. `kept`: of each part, in decoding, if one
  // acts on tokens; otherwise empty
  Projected project(Pass& pass, const Tensor& x, std::int64_t first, const Segments& segments,
                    std::span<SavedTensor> kept, Tensor* first_values) const;
  // `step`, with the state of keys and values
  Tensor step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<MixerState>& past,
              std::span<SavedTensor> kept, Tensor* first_values) const;
  Projected of_stored(Pass& pass, const StoredVectors& stored) const;
  Projected of_memory(Pass& pass, const Tensor& memory) const;
  // What the parts make of queries, keys and values, [B, T, heads * width].
  Tensor queries_of(Pass& pass, Tensor q) const;
  Tensor keys_of(Pass& pass, Tensor k) const;
  Tensor values_of(Pass& pass, Tensor v, const Tensor* first_values) const;
  // The mask for all keys, with those before the sequence, of which the caller's mask does not know.
  Mask with_keys_before(Pass& pass, const Mask& mask, std::int64_t batch) const;
  // Keys and values with those before the sequence, which parts have.
  Projected with_learned_keys(Pass& pass, const Projected& of_sequence) const;
  void require_memory(bool wanted, const char* what) const;
  AttentionInputs heads_of(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) const;
  // v [B, T, values], with as many heads as the keys
  Tensor split_values(const Tensor& v) const;
  // If maps have keys of their own, and there are fewer heads of keys than of queries, the first maps of the heads of a
  // group share one head of keys, and their second maps another. Gives each map its head of keys; returns other inputs
  // unchanged.
  AttentionInputs with_keys_of_maps(AttentionInputs inputs) const;
  // Adds what parts make of the queries' tokens x, whose positions are from `first` on. `kept`: as in `project`
  void add_inputs(Pass& pass, const Tensor& x, const Segments& segments, std::int64_t first,
                  std::span<SavedTensor> kept, AttentionInputs& inputs) const;
  // With the queries and keys that observers do not see. The mask is one with the keys before the sequence.
  AttentionInputs of_self(const Projected& all, const Mask& mask) const;
  // Appends the keys and values of a step to the cache, and gives all to the inputs.
  void continue_with(Pass& pass, const Projected& of_x, KVCache& cache, AttentionInputs& inputs) const;
  // x: the attention's input; v: the values of its positions; y: the heads' outputs
  Tensor finish(Pass& pass, const Tensor& x, const Tensor& v, const Tensor& y) const;

  Sizes sizes_;
  ProjectionSizes head_sizes_;
  bool serves_steps_;
  std::unique_ptr<Projection> projection_;
  bool stores_vectors_; // does decoding store Projected::stored, and not keys and values?
  Attention attention_;
  std::optional<Linear> output_; // empty: the heads' results are the result
  AttentionParts parts_;
  bool acts_on_tokens_ = false; // does a part read PartTokens?
  std::int64_t earlier_tokens_ = 0;
  std::int64_t learned_keys_ = 0, before_ = 0; // keys of no position: those of parts; and those, then registers
};

} // namespace heed::HEED_REAL
