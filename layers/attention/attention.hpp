// Attention as a layer by itself, and with projections for several heads.
#pragma once

#include "layers/attention/algorithm.hpp"
#include "layers/attention/kv_cache.hpp"
#include "layers/layer_options.hpp"
#include "layers/linear.hpp"
#include "layers/norm.hpp"

#include <memory>
#include <optional>

namespace heed::HEED_REAL {

/// What attention is called with.
struct AttentionInputs {
  Tensor queries;                             ///< [B, Tq, Dq], or [B, H, Tq, Dq]
  Tensor values;                              ///< [B, Tk, Dv], or [B, Hk, Tk, Dv]: H / Hk heads share each of these
  std::optional<Tensor> keys{};               ///< [B, Tk, Dk], or [B, Hk, Tk, Dk]; the values if not given
  Mask mask{};                                ///< causal, padding and so on; true means attend
  const RelativePosition* position = nullptr; ///< what acts on queries, keys, scores and sums, if anything
  bool keys_rotated = false;                  ///< has the position turned the keys before?
  const Tensor* factors = nullptr; ///< [B or 1, H or 1, Tq, Tk]: what weights are multiplied with; null: nothing
  std::int64_t rows = 0;           ///< compose, so many queries at a time; 0: as is best
};

/// Keys and values that many calls attend to, as a decoder does step by step: what the score makes of keys is made
/// once.
struct AttentionMemory {
  Tensor keys, values;         ///< [B, Tk, Dk], [B, Tk, Dv]
  Tensor transformed, one_key; ///< the form's keys, and a key to ask for a query's form with; empty without a form
  const PackedMemory* packed = nullptr; ///< these and the values, as the kernels want them; null: they are packed anew
};

/// The given mask with what [attention] causal, prefix, window and dilation add to it: self attention's. A window of n
/// sees n keys on each side, the last at distance n dilation (Beltagy et al. 2020, arXiv 2004.05150, section 3.1).
Mask self_attention_mask(const AttentionOptions& options, const Mask& given);

/// y_i = sum_j w_ij v_j with w_i = normaliser(s(q_i, k_1), s(q_i, k_2), ...), for each head by itself.
///
///   Attention attend(scope, choice, {.heads = 1, .query_width = 16, .key_width = 24});
///   Tensor y = attend(pass, {.queries = q, .values = v, .keys = k, .mask = {.causal = true}});
///
/// It has no projections; see MultiHeadAttention for these.
class Attention {
public:
  /// `scope` is that of the layer whose attention it is; the score's parameters stand in its part `score`, the
  /// normaliser's in `normalizer`. Takes score, normalizer, dropout and their options of the choice; its `causal`,
  /// `prefix`, `window` and `dilation` are the caller's to put into the mask (self_attention_mask). Its formulas and the
  /// maps between its heads are of every call. `kind` changes nothing but what those who look on are told.
  /// Throws heed::Failed where the score needs equal widths and they differ.
  Attention(const Scope& scope, const LayerChoice& choice, const ScoreShape& shape,
            AttentionPlace::Kind kind = AttentionPlace::Kind::self);

  /// [B, Tq, Dv], or [B, H, Tq, Dv] as the inputs are. `weights`, if given, receives [B, H, Tq, Tk]: what the values
  /// are summed with, before dropout; gradients flow through them. (Those who only look on get them by the Pass,
  /// without gradients.) The first algorithm that serves computes it (layers/attention/algorithm.hpp). Memory grows
  /// linearly with the lengths; with weights, or with factors, it grows with their product. This layer, the position
  /// and what the mask points to must live until the backward pass is done.
  Tensor operator()(Pass& pass, const AttentionInputs& inputs, Tensor* weights = nullptr) const;

  /// What is kept between decoding steps that begin with these inputs, of four axes, where the algorithm that serves them
  /// keeps something of its own; null: keys and values will do. And the result for inputs behind what such a state has
  /// seen.
  std::unique_ptr<AttentionState> start(const AttentionInputs& inputs) const;
  Tensor step(Pass& pass, const AttentionInputs& inputs, AttentionState& state) const;

  /// What calls with the same keys (the values if not given) share: values [B, Tk, Dv], keys [B, Tk, Dk]. For one head.
  AttentionMemory remember(Pass& pass, const Tensor& values, const std::optional<Tensor>& keys = {}) const;
  /// The same as the call above with the memory's keys and values: queries [B, Tq, Dq], result [B, Tq, Dv].
  Tensor operator()(Pass& pass, const Tensor& queries, const AttentionMemory& memory, const Mask& mask,
                    const Tensor* factors = nullptr) const;

private:
  AttentionProblem problem(const AttentionInputs& inputs) const;
  void give_form(Pass& pass, AttentionProblem& problem, bool keys_rotated) const;
  Tensor run(Pass& pass, AttentionProblem& problem, Tensor* weights) const;

  AttentionPlace place_;
  ScoreShape shape_;
  std::unique_ptr<Score> score_;
  std::unique_ptr<Normalizer> normalizer_;
  std::unique_ptr<AttentionFormula> formula_; // null: none
  std::optional<TalkingHeads> talking_;
  double dropout_;
};

/// Attention of several heads between projections (Vaswani et al. 2017, arXiv 1706.03762, section 3.2.2):
///   y = W_o concat_h(attention(W_q^h x_q, W_k^h x_k, W_v^h x_v)) + b_o
/// Self attention has one matrix for queries, keys and values (`qkv`), or two where heads share keys and values (`query`,
/// `key_value`; Ainslie et al. 2023, arXiv 2305.13245); cross attention has `query`, `key` and `value`. Each head's
/// queries and keys may be normalised before they meet (`query_norm`, `key_norm`; Henry et al. 2020, arXiv 2010.04245).
class MultiHeadAttention {
public:
  struct Shape {
    std::int64_t width = 0;        ///< of the queries and of the result
    std::int64_t memory_width = 0; ///< of the values and keys that are attended to; 0: self attention
    std::int64_t heads = 1;
    bool bias = true;                                   ///< of the projections
    std::optional<bool> output_bias{};                  ///< of the output projection; none: as `bias`
    std::shared_ptr<const RelativePosition> position{}; ///< of self attention; null: none
    std::int64_t longest = 0; ///< most keys that there will ever be, for what has numbers for each; 0: not known
  };

  /// The widths of one head's queries and values, for whoever makes a position.
  static RelativeShape relative_shape(const LayerChoice& choice, const Shape& shape);

  /// `output_init` is what the output projection (`output`) starts with. head_width 0: width / heads, which must divide
  /// (heed::Failed otherwise); likewise value_width, of values. Throws heed::Failed where key_value_heads does not
  /// divide heads.
  MultiHeadAttention(const Scope& scope, const LayerChoice& choice, const Shape& shape, const InitRule& output_init);

  /// Self attention: x [B, T, width].
  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask) const;
  /// Cross attention: x [B, Tq, width], memory [B, Tk, memory_width].
  Tensor operator()(Pass& pass, const Tensor& x, const Tensor& memory, const Mask& mask) const;

  /// Self attention of x [B, n, width], which comes behind the positions that `past` has of the same rows, to these and
  /// to itself; `past` goes on with x, and is made if there is none. The mask's offset is set here. What it gives is
  /// what the whole row's attention gives at these positions, where nothing attends to what is behind it.
  Tensor step(Pass& pass, const Tensor& x, const Mask& mask, std::unique_ptr<AttentionState>& past) const;

  /// Cross attention in two parts: the memory's keys and values, put into `to`; and attention to them.
  void remember(Pass& pass, const Tensor& memory, KVCache& to) const;
  Tensor recall(Pass& pass, const Tensor& x, const KVCache& memory, const Mask& mask) const;

private:
  struct Projections {
    Tensor q, k, v;
  };
  Projections project(Pass& pass, const Tensor& x) const;
  // [B, T, heads width], each head by itself.
  Tensor normalised(Pass& pass, const Tensor& x, const std::optional<Norm>& norm) const;
  Tensor query_of(Pass& pass, const Tensor& x) const;
  Tensor key_of(Pass& pass, const Tensor& memory) const;
  void require_memory(bool wanted, const char* what) const;
  AttentionInputs heads_of(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) const;
  Tensor attend(Pass& pass, const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask) const;

  Shape shape_;
  RelativeShape widths_;
  std::int64_t key_heads_; // of keys and values
  std::optional<Linear> qkv_, key_value_, query_, key_, value_;
  std::optional<Norm> query_norm_, key_norm_;
  Attention attention_;
  Linear output_;
};

} // namespace heed::HEED_REAL
