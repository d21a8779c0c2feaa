// The interface of the parts of attention: what is added around scores and normaliser, such as a gate or a norm of
// queries and keys.
//
// A part is one file in parts/ and its name in layers/meson.build. The file has the part's options (in the table
// [attention]), its parameters, what it does, and its record. The order of the names in layers/meson.build is the order
// in which parts add their parameters, and in which they act where several act at one place.
#pragma once

#include "autograd/householder.hpp"
#include "layers/attention/algorithm.hpp"
#include "layers/attention/heads.hpp"
#include "layers/attention/projection.hpp"
#include "layers/layer_options.hpp"
#include "layers/module.hpp"
#include "layers/required_function.hpp"
#include "layers/saved_tensor.hpp"
#include "options/sketch.hpp"
#include "options/variant.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::HEED_REAL {

/// The arguments of an attention call.
struct AttentionInputs {
  Tensor queries;               ///< [B, Tq, Dq], or [B, H, Tq, Dq]
  Tensor values;                ///< [B, Tk, Dv], or [B, Hk, Tk, Dv]: H / Hk heads share each head of values
  std::optional<Tensor> keys{}; ///< [B, Tk, Dk], or [B, Hk, Tk, Dk]; if not given, the values
  Mask mask{};                  ///< causal, padding and so on; true means attend
  const RelativePosition* position = nullptr; ///< acts on queries, keys, scores and weighted sums; null: none
  /// Logarithms of the forget gates of all keys, [B, H, Tk, 1]: the sum of those after a key, up to the query, is added
  /// to the key's score. Empty: none.
  Tensor forget{};
  /// [B or 1, H / 2 or 1, Tq or 1, 1]: each two adjacent heads are the maps of one head, whose result is that of the
  /// first minus lambda times that of the second (differential attention). Empty: each head has one map.
  Tensor lambda{};
  /// Of the last tokens of the keys, with the keys' heads: products of queries and keys are those of
  /// householder_products. Without a tape: none.
  HouseholderMatrices householder{};
  bool keys_rotated = false;               ///< true if the position has already rotated the keys
  const Tensor* factors = nullptr;         ///< [B or 1, H or 1, Tq, Tk]: multiplied with the weights; null: none
  const KeySelection* selection = nullptr; ///< makes the weights of keys that it chooses; null: none
  /// [B, H, Tq, gates]: the numbers that the selection multiplies with weights. Empty: it has none.
  Tensor gates{};
  /// The numbers of the first queries and keys that stand for no token: observers do not see them.
  std::int64_t unseen_queries = 0, unseen_keys = 0;
  std::int64_t rows = 0; ///< composed from operations: queries per block; 0: chosen automatically
};

/// How many maps of weights a head has, each with queries and keys of its own.
struct HeadMaps {
  std::int64_t of_queries = 1; ///< maps with queries of their own
  std::int64_t of_keys = 1;    ///< maps with keys of their own
  bool share_width = false;    ///< is the width of a head shared among its maps?
};

/// What a part is made for.
struct PartSizes {
  std::int64_t width = 0; ///< of the attention's input; 0 in attention without projections
  std::int64_t heads = 1; ///< of the result
  std::int64_t query_heads = 1, key_heads = 1, value_heads = 1; ///< each map of a head counts
  std::int64_t query_width = 0, value_width = 0;                ///< of one head
  bool bias = true;                                             ///< do linear maps have a bias?
  std::int64_t layer = 0, layers = 1;                           ///< the block's index, and the blocks of its stack
  bool shared_layers = false;                                   ///< do all blocks have the parameters of the first one?
};

struct AttentionPartInfo;

/// The tokens of a call of self attention.
struct PartTokens {
  Segments segments{};         ///< of all positions; no numbers: there are none
  std::int64_t first = 0;      ///< the position of the first token; registers count
  SavedTensor* kept = nullptr; ///< in decoding: what the part has kept of the tokens before them; null: no steps
};

/// A part of attention; positional schemes may be parts, too. Each function is one place where a part may act; by
/// default, nothing happens there. In the order in which attention calls them:
///
/// | function | acts on |
/// |---|---|
/// | `tokens` | what the projection made of the tokens in self attention, with that of earlier tokens |
/// | `queries`, `keys`, `values` | what the projection made |
/// | `learned_keys` | the keys and values that all queries see, in addition to those of the sequence |
/// | `inputs` | what the scores get from the queries' tokens: forget gates, lambda; a selection of keys; matrices |
/// | `pair_scores`, `pair_weights` | the scores before formula and mask; the normaliser's weights |
/// | `head_outputs`, `joined_outputs` | the heads' outputs; the same side by side, before the output projection |
///
/// Parts of Place::every_attention have only the functions on pairs, and with them nothing streams. Other parts never
/// have these.
///
/// In decoding, keys and values are stored after `keys` and `values`, and so is AttentionInputs::forget. With
/// projections that store vectors, `keys` and `values` act on all stored positions again at each step, unless a part
/// has `tokens`. Rotations by the position come after `queries` and `keys`.
class AttentionPart {
public:
  virtual ~AttentionPart() = default;
  /// q, k and v [B, T, heads * width] to the same shapes. In decoding, it also sets PartTokens::kept.
  virtual Projected tokens(Pass&, const Projected& given, const PartTokens&) const { return given; }
  /// How many tokens before a token `tokens` or `inputs` reads. The part keeps them between decoding steps. Empty:
  /// neither reads PartTokens.
  virtual std::optional<std::int64_t> earlier_tokens() const { return std::nullopt; }
  /// [B, T, heads * width] to the same shape. `first_values` are the values of the stack's first block, for parts that
  /// use them.
  virtual Tensor queries(Pass&, const Tensor& q) const { return q; }
  virtual Tensor keys(Pass&, const Tensor& k) const { return k; }
  virtual Tensor values(Pass&, const Tensor& v, const Tensor* /*first_values*/) const { return v; }
  /// Does `values` use the values of the first block?
  virtual bool uses_first_values() const { return false; }
  /// k and v, [n, heads * width]; and n. Only in self attention.
  virtual Projected learned_keys(Pass&) const { return {}; }
  virtual std::int64_t learned_key_count() const { return 0; }
  /// x [B, Tq, width]: the tokens of the queries. Self attention: those of the keys, too. In decoding, it also sets
  /// PartTokens::kept.
  virtual void inputs(Pass&, const Tensor& /*x*/, const PartTokens&, AttentionInputs&) const {}
  /// [B, H, Tq, Tk] to the same shape.
  virtual Tensor pair_scores(Pass&, const Tensor& s) const { return s; }
  virtual Tensor pair_weights(Pass&, const Tensor& w) const { return w; }
  /// y [B, H, Tq, Dv] to the same shape; v [B, T, values]: in self attention, the values of the queries' positions.
  virtual Tensor head_outputs(Pass&, const Tensor& /*x*/, const Tensor& /*v*/, const Tensor& y) const { return y; }
  /// y [B, Tq, H * Dv] to the same shape.
  virtual Tensor joined_outputs(Pass&, const Tensor& /*x*/, const Tensor& y) const { return y; }

  const AttentionPartInfo* info = nullptr; ///< its record
};

/// One sequence of self attention in plain loops, without the engine: what parts read and change there.
struct PartSequence {
  PartSizes sizes;
  const LayerChoice* choice;
  std::vector<const Real*> parameters;         ///< the part's own, in the order in which it added them
  std::vector<std::vector<Real>> x;            ///< the attention's input
  std::vector<std::vector<Real>> q, k, v;      ///< of each position: all heads. Learned keys and values come first
  std::vector<std::vector<Real>> first_values; ///< v of the stack's first block
  std::int64_t before() const { return std::ssize(k) - std::ssize(x); } ///< the number of learned keys
};

/// A part in plain loops, the tests' reference. What is null does nothing.
struct PartLoops {
  void (*vectors)(PartSequence& sequence) = nullptr; ///< changes q, k and v
  /// What is added to the score of query i and key j.
  double (*score)(const PartSequence& sequence, std::int64_t head, std::int64_t i, std::int64_t j) = nullptr;
  /// The factor of a head's second map, which is subtracted.
  double (*lambda)(const PartSequence& sequence, std::int64_t head, std::int64_t i) = nullptr;
  /// The weights of query i in a head, in place of the softmax over the scores [heads, i + 1]. Heads count maps.
  std::vector<double> (*weights)(const PartSequence& sequence, std::int64_t head, std::int64_t i,
                                 const std::vector<std::vector<double>>& scores) = nullptr;
  /// Changes the scores, or the weights, of all heads at one pair.
  void (*pair_scores)(const PartSequence& sequence, std::vector<double>& of_heads) = nullptr;
  void (*pair_weights)(const PartSequence& sequence, std::vector<double>& of_heads) = nullptr;
  /// Changes the outputs of query i, [heads * value width].
  void (*outputs)(const PartSequence& sequence, std::int64_t i, std::vector<double>& y) = nullptr;
};

/// A picture of one word of a part's first option.
struct PartPicture {
  std::string word;
  std::string summary; ///< what the picture shows
  std::vector<Sketch> (*panels)();
};

struct AttentionPartInfo {
  /// Which attention can have the part: every one (Attention, without projections, too); multi-head attention; or only
  /// multi-head self attention (cross attention then has none).
  enum class Place { every_attention, multi_head, self_attention };

  /// `options` are keys of [attention]. The first has the part's name. While it has its default, there is no part.
  Variant about;
  Place place = Place::multi_head;
  RequiredFunction<std::unique_ptr<AttentionPart>(const Scope& scope, const PartSizes& sizes,
                                                  const LayerChoice& choice)>
      make;
  PartLoops loops;
  HeadMaps (*maps)(const OptionValues& options) = nullptr; ///< null: one
  bool adds_keys = false; ///< does it add keys before those of the sequence (`learned_keys`)? They have no position
  /// Why it can't be combined with keys that have no position: the beginning of a sentence; null: it can.
  const char* needs_positions = nullptr;
  /// Does the part, with these options in block `layer` of `layers`, use the values of the first block? Null: never.
  bool (*uses_first_values)(const OptionValues& options, std::int64_t layer, std::int64_t layers) = nullptr;
  std::vector<PartPicture> pictures = {};
};

/// All registered parts, in Meson's order (generated).
std::span<const AttentionPartInfo* const> attention_parts();

/// Does the choice have the part? Its place does not matter here.
bool has_part(const LayerChoice& choice, const AttentionPartInfo& info);
/// The same by name. Throws heed::Failed if there is no such part.
bool has_part(const LayerChoice& choice, std::string_view name);

/// The parts of attention at this place, made.
using AttentionParts = std::vector<std::unique_ptr<AttentionPart>>;
AttentionParts make_parts(std::span<const AttentionPartInfo::Place> places, const Scope& scope, const PartSizes& sizes,
                          const LayerChoice& choice);

} // namespace heed::HEED_REAL
