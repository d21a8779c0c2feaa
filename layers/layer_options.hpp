// The options of the layers as plain structs. layer_options.cpp has the tables that bind each member to its name in a
// configuration. The options of single variants are in the variants' own files.
#pragma once

#include "options/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// [attention], without the options of the parts of attention (layers/attention/part.hpp)
struct AttentionOptions {
  std::string score = "scaled_dot";
  std::string normalizer = "softmax";
  std::string projection = "dense";      ///< how queries, keys and values are made
  bool causal = true;                    ///< a position attends to itself and to earlier ones (encoder: false)
  std::int64_t prefix = 0;               ///< if causal: every query sees this many first positions; 0: none
  std::int64_t window = 0;               ///< how many positions a query sees on each side of its own; 0: all
  std::int64_t dilation = 1;             ///< distance between the positions that a query sees; 1: no gaps
  std::int64_t head_width = 0;           ///< width of queries and keys; 0: width / heads
  double dropout = 0.0;                  ///< on the attention weights, in training
  std::string cross_score = "same";      ///< score of cross attention: same (as score, with its options) | a score
  std::string cross_normalizer = "same"; ///< normaliser of cross attention: same | a normaliser
  std::string cross_projection = "same"; ///< projection of cross attention: same | a projection
  std::string qkv_bias = "same";         ///< bias of queries, keys and values: same (as block.bias) | yes | no
  std::string output_bias = "same";      ///< bias of the output projection: same (as block.bias) | yes | no
  /// heads of keys and values, which equal groups of heads share; 0: as many as heads
  std::int64_t key_value_heads = 0;
  std::int64_t value_width = 0;     ///< width of a head's values; 0: width / heads
  std::string score_mod = "";       ///< formula that replaces self attention's scores s; empty: unchanged
  std::string mask_mod = "";        ///< formula that is true if a query may attend to a key; empty: always true
  std::string cross_score_mod = ""; ///< the same as score_mod and mask_mod, for cross attention
  std::string cross_mask_mod = "";
  /// parameters of the formulas, one a line (layers/attention/formula/formula.hpp)
  std::vector<std::string> parameters{};

  /// The number of heads of keys and values, of an attention with this number of heads.
  std::int64_t heads_of_values(std::int64_t heads) const { return key_value_heads ? key_value_heads : heads; }

  bool operator==(const AttentionOptions&) const = default;
};

/// Why a width can't be divided among the heads; empty: it can.
std::string wrong_heads(std::int64_t heads, std::int64_t width);
/// Why the heads can't share heads of keys and values in equal groups; empty: they can, or each has its own
/// (`key_value_heads` is 0).
std::string wrong_key_value_heads(std::int64_t key_value_heads, std::int64_t heads);

/// [position]. A scheme that acts within attention belongs to a block, and so do `kind` and `shared`. All blocks have
/// the same values of the other options, and of `kind` if the scheme adds to the token embeddings.
struct PositionOptions {
  std::string kind = "sinusoidal";
  std::string combine = "add";    ///< add | concat
  std::int64_t width = 0;         ///< width of concatenated positions; 0: the model's width
  std::string concat = "project"; ///< project (back to the model's width) | widen (the model)
  bool shared = false;            ///< do blocks with the same scheme share one instance, if it acts within attention?

  bool operator==(const PositionOptions&) const = default;
};

/// [block]
struct BlockOptions {
  std::string residual = "both";      ///< both | attention | ffn | none
  std::string norm = "pre";           ///< pre | post | sandwich | output | none
  std::string norm_kind = "layer";    ///< a norm
  std::string activation = "gelu";    ///< a kind of feed-forward network
  std::int64_t ffn_width = 0;         ///< 0: four times the model's width
  std::string gated_width = "stated"; ///< stated | matched: hidden width of gated kinds
  bool bias = true;                   ///< of the linear maps and the layer norms
  double dropout = 0.0;               ///< on each sublayer's output, in training
  double ffn_dropout = 0.0;           ///< on the feed-forward network's hidden vectors, in training
  std::string norm_bias = "same";     ///< bias of the layer norms: same (as bias) | yes | no
  bool ffn = true;                    ///< is there a feed-forward sublayer?
  bool parallel = false;              ///< do attention and feed-forward have the same input, and is their sum added?
  WordOrNumber residual_scale{"", 1}; ///< scale of what is added to the residual stream: a number | rezero | layerscale
  std::string connection = "sum";     ///< sum | highway: how a residual connection combines x and f(x)
  double gate_bias = -2.0;            ///< initial bias of the gates of highway connections

  bool operator==(const BlockOptions&) const = default;
};

/// [mixer]: what carries information from token to token. All but `kind` are about recurrences, whose kinds only set
/// other defaults.
struct MixerOptions {
  std::string kind = "attention";
  std::int64_t heads = 0;              ///< 0: model.heads
  std::int64_t key_heads = 0;          ///< heads of queries and keys, which equal groups of heads share; 0: as many
  std::int64_t key_width = 0;          ///< of a head; 0: key_ratio * width / heads
  double key_ratio = 1.0;              ///< of the width of a head's keys to width / heads
  std::int64_t value_width = 0;        ///< of a head; 0: value_ratio * width / heads
  double value_ratio = 1.0;            ///< of the width of a head's values to width / heads
  bool bias = false;                   ///< of the linear maps
  std::int64_t convolution = 0;        ///< taps of the convolution of queries, keys and values; 0: none
  bool convolution_bias = false;       ///< has the convolution a bias?
  std::string activation = "none";     ///< none | silu: of queries, keys and values, without a convolution
  std::string feature = "identity";    ///< a feature map, of queries and keys
  std::string query_key_norm = "none"; ///< none | l2 | sum: of queries and keys, after the feature map
  std::string position = "none";       ///< none | rotary: of queries and keys, after the norm
  WordOrNumber scale{"sqrt", 0};       ///< sqrt | none | a number: factor of the queries
  std::string decay = "none";          ///< a form of decay
  std::string keys = "projected";      ///< projected | complement: of the decay, 1 - exp(g)
  std::string erase = "none";          ///< none | head | channel: the strength of the erase
  std::int64_t steps = 1;              ///< keys with their values that a token writes, one after the other
  std::string range = "0..1";          ///< 0..1 | -1..1: of the factors by which the erase multiplies what is there
  std::string write = "same";          ///< same | step: the weight of what a token writes
  std::string write_gate = "none";     ///< none | head | channel: what a token writes is multiplied by it
  std::string normalizer = "none";     ///< none | sum: what the results are divided by
  bool skip = false;                   ///< is the token's own value added, times a learned number of the head?
  std::string output_norm = "none";    ///< none | rms_head | rms: of the results
  std::string gate = "none";           ///< none | silu | sigmoid: of the results
  std::string gate_rank = "full";      ///< full | head: of the gate's map; the width of a head's values
  bool gate_first = false;             ///< is the gate before the norm?

  bool operator==(const MixerOptions&) const = default;
};

/// The value of an option of same | yes | no; "same" gives `otherwise`.
bool yes(const std::string& word, bool otherwise);

/// [recurrent]
struct RecurrentOptions {
  std::string cell = "gru";
  std::int64_t layers = 1;   ///< number of layers in the encoder and in the decoder
  bool bidirectional = true; ///< the encoder reads in both directions, each with half of the width
  double dropout = 0.0;      ///< on each layer's states, in training
  std::string attention = "bahdanau";
  bool input_feeding = true;    ///< luong: the attentional vector is an input of the next step
  std::string reach = "global"; ///< global | local_m | local_p
  std::int64_t window = 10;     ///< D: number of source positions on each side, for local reach
};

const OptionTable<RecurrentOptions>& recurrent_option_table();
const OptionTable<AttentionOptions>& attention_option_table();
const OptionTable<PositionOptions>& position_option_table();
const OptionTable<BlockOptions>& block_option_table();
const OptionTable<MixerOptions>& mixer_option_table();

/// All options of one block of a model. `[[block.override]]` makes them differ between blocks.
struct LayerChoice {
  MixerOptions mixer;
  OptionValues mixer_options;   ///< table [mixer.KIND]
  OptionValues feature_options; ///< table [mixer.FEATURE]
  OptionValues decay_options;   ///< table [mixer.DECAY]
  AttentionOptions attention;
  OptionValues part_options;       ///< [attention]: the options of the parts of attention
  OptionValues score_options;      ///< table [attention.SCORE]
  OptionValues normalizer_options; ///< table [attention.NORMALIZER]
  OptionValues projection_options; ///< table [attention.PROJECTION]
  BlockOptions block;
  OptionValues norm_options;         ///< table [block.NORM_KIND]
  OptionValues feed_forward_options; ///< table [block.ACTIVATION]
  PositionOptions position;
  OptionValues position_options; ///< table [position.KIND]

  LayerChoice();
  LayerChoice(const LayerChoice&);
  LayerChoice(LayerChoice&&) noexcept;
  LayerChoice& operator=(const LayerChoice&);
  LayerChoice& operator=(LayerChoice&&) noexcept;
  ~LayerChoice();
  bool operator==(const LayerChoice&) const;

  /// The choice for cross attention: cross_score, cross_normalizer, cross_projection, cross_score_mod and
  /// cross_mask_mod replace score, normalizer, projection, score_mod and mask_mod. If score, normaliser or projection
  /// differs from self attention's, its own options have their defaults.
  LayerChoice for_cross_attention() const;
  /// The same choice without formulas and their parameters, for attention in which query and key have no positions.
  LayerChoice without_formulas() const;
};

} // namespace heed
