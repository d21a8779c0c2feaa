// The options of the layers, as plain structs. The tables that name each member for configurations stand in
// layer_options.cpp; those of single variants stand in the variants' own files.
#pragma once

#include "options/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// [attention]
struct AttentionOptions {
  std::string score = "scaled_dot";
  std::string normalizer = "softmax";
  bool causal = true;                    ///< a position attends to itself and what is before it (encoder: false)
  std::int64_t prefix = 0;               ///< where causal: so many first positions are seen by all; 0: none
  std::int64_t window = 0;               ///< how many positions a query sees on each side of its own; 0: all
  std::int64_t dilation = 1;             ///< how far apart the positions are that a query sees; 1: each is seen
  std::int64_t head_width = 0;           ///< of queries and keys; 0: width / heads
  double dropout = 0.0;                  ///< of the attention weights, in training
  std::string cross_score = "same";      ///< of cross attention: same (as score, with its options) | a score
  std::string cross_normalizer = "same"; ///< likewise
  std::string qkv_bias = "same";         ///< of queries, keys and values: same (as block.bias) | yes | no
  std::string output_bias = "same";      ///< of the projection after the heads, likewise
  std::int64_t key_value_heads = 0;      ///< of keys and values, which heads share in equal groups; 0: each has its own
  std::int64_t value_width = 0;          ///< of a head's values; 0: width / heads
  std::string query_key_norm = "none";   ///< none | layer | rms: of each head's queries and keys
  std::string talking_heads = "none";    ///< none | scores | weights | both: what is mixed between heads
  std::string score_mod = "";            ///< self attention's scores s become this formula of s; empty: they stay
  std::string mask_mod = ""; ///< a formula that is true where a query may attend to a key; empty: everywhere
  std::vector<std::string> parameters{}; ///< of the formulas, as lines (layers/attention/formula/formula.hpp)
};

/// [position]
struct PositionOptions {
  std::string kind = "sinusoidal";
  std::string combine = "add";    ///< add | concat
  std::int64_t width = 0;         ///< of concatenated positions; 0: the model's width
  std::string concat = "project"; ///< project (back to the model's width) | widen (the model)
  bool shared = false;            ///< do all blocks share one instance of a scheme that acts within attention?
};

/// [block]
struct BlockOptions {
  std::string residual = "both";      ///< both | attention | ffn | none
  std::string norm = "pre";           ///< pre | post | sandwich | none
  std::string norm_kind = "layer";    ///< layer | rms
  std::string activation = "gelu";    ///< relu | gelu | gelu_tanh | silu | swiglu
  std::int64_t ffn_width = 0;         ///< 0: four times the model's width
  bool bias = true;                   ///< of the linear maps and the layer norms
  double dropout = 0.0;               ///< of each sublayer's output, in training
  double ffn_dropout = 0.0;           ///< of the feed-forward's hidden vectors, in training
  std::string norm_bias = "same";     ///< of the layer norms: same (as bias) | yes | no
  bool ffn = true;                    ///< is there a feed-forward sublayer?
  bool parallel = false;              ///< do attention and feed-forward read the same, and is their sum added?
  WordOrNumber residual_scale{"", 1}; ///< of what is added to the residual stream: a number | rezero | layerscale
  std::string connection = "sum";     ///< sum | highway: what a residual connection makes of x and f(x)
  double gate_bias = -2.0;            ///< that the gates of highway connections start with
};

/// What an option of same | yes | no comes to, where it is as `otherwise` if it says same.
bool yes(const std::string& word, bool otherwise);

/// [recurrent]
struct RecurrentOptions {
  std::string cell = "gru";
  std::int64_t layers = 1;   ///< of the encoder and of the decoder each
  bool bidirectional = true; ///< the encoder reads both ways, each with half of the width
  double dropout = 0.0;      ///< of each layer's states, in training
  std::string attention = "bahdanau";
  bool input_feeding = true;    ///< luong: the attentional vector goes into the next step
  std::string reach = "global"; ///< global | local_m | local_p
  std::int64_t window = 10;     ///< D: so many source positions on each side, where the reach is local
};

const OptionTable<RecurrentOptions>& recurrent_option_table();
const OptionTable<AttentionOptions>& attention_option_table();
const OptionTable<PositionOptions>& position_option_table();
const OptionTable<BlockOptions>& block_option_table();

/// Everything one block of a model needs to know; `[[block.override]]` makes these differ between blocks.
struct LayerChoice {
  AttentionOptions attention;
  OptionValues score_options;      ///< of table [attention.SCORE]
  OptionValues normalizer_options; ///< of table [attention.NORMALIZER]
  BlockOptions block;

  LayerChoice();
  LayerChoice(const LayerChoice&);
  LayerChoice(LayerChoice&&) noexcept;
  LayerChoice& operator=(const LayerChoice&);
  LayerChoice& operator=(LayerChoice&&) noexcept;
  ~LayerChoice();

  /// What cross attention is made with: cross_score and cross_normalizer in the places of score and normalizer. One
  /// that is another than self attention's has its own options' defaults.
  LayerChoice for_cross_attention() const;
  /// The same without score_mod, mask_mod and their parameters: for attention in which query and key have no distance.
  LayerChoice without_formulas() const;
};

} // namespace heed
