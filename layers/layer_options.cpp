#include "layers/layer_options.hpp"

#include <fmt/format.h>

namespace heed {

std::string wrong_heads(std::int64_t heads, std::int64_t width) {
  if (heads >= 1 && width % heads == 0) return "";
  return fmt::format("model.heads is {}, which does not divide the width {}", heads, width);
}

std::string wrong_key_value_heads(std::int64_t key_value_heads, std::int64_t heads) {
  if (key_value_heads == 0 || heads % key_value_heads == 0) return "";
  return fmt::format("attention.key_value_heads is {}, which does not divide model.heads {}", key_value_heads, heads);
}

// clang-format off

const OptionTable<AttentionOptions>& attention_option_table() {
  using O = AttentionOptions;
  static const auto table = option_table<O>(
      option("score", &O::score, "The score function s(q, k) of queries and keys."),
      option("normalizer", &O::normalizer, "The function that turns the scores of a query into attention weights."),
      option("projection", &O::projection,
             "How queries, keys and values are made from the tokens' vectors, and the result from the heads' results.")
          .of_blocks(),
      option("causal", &O::causal, "A position attends only to itself and to earlier positions.")
          .of_blocks(),
      option("prefix", &O::prefix,
             "Number of first positions to which all positions attend, also outside of a window. With causal "
             "attention, these first positions attend to each other in both directions. (A language model that "
             "predicts within its prefix then sees its own targets there.)")
          .between(0, 1e9).unit("positions")
          .default_means("0: no prefix").only_if("attention.causal", {"true"}).of_blocks(),
      option("window", &O::window,
             "Number of positions on each side of its own to which a query attends, in addition to a prefix.")
          .between(0, 1e9).unit("positions").default_means("0: no window").of_blocks(),
      option("dilation", &O::dilation,
             "A query attends to its own position and to positions at distances that are multiples of this value. A "
             "window then counts only these positions. Dilation does not apply to a prefix.")
          .between(1, 1e6).unit("positions").default_means("1: to every position").of_blocks(),
      option("head_width", &O::head_width, "Width of each head's queries and keys.")
          .between(0, 65536).unit("features").default_means("0: model.width / model.heads").of_blocks(),
      option("dropout", &O::dropout, "Dropout of the attention weights: the fraction that is set to 0 in training.")
          .at_least(0).below(1),
      option("cross_score", &O::cross_score,
             "The score of the decoder's cross attention: that of self attention, or another score with its defaults.")
          .one_of({"same"}).or_variant_of("attention.score"),
      option("cross_normalizer", &O::cross_normalizer,
             "The normaliser of the decoder's cross attention: that of self attention, or another normaliser with its "
             "defaults.")
          .one_of({"same"}).or_variant_of("attention.normalizer"),
      option("cross_projection", &O::cross_projection,
             "The projection of the decoder's cross attention: that of self attention, or another projection with its "
             "defaults.")
          .one_of({"same"}).or_variant_of("attention.projection"),
      option("qkv_bias", &O::qkv_bias,
             "Queries, keys and values have a bias: yes, no, or as in block.bias.")
          .one_of({"same", "yes", "no"}).of_blocks(),
      option("output_bias", &O::output_bias, "The projection after the heads has a bias: yes, no, or as in block.bias.")
          .one_of({"same", "yes", "no"}).of_blocks(),
      option("key_value_heads", &O::key_value_heads,
             "Number of heads of keys and values. Each is shared by the same number of query heads (grouped-query "
             "attention; 1: multi-query).")
          .between(0, 65536).unit("heads").default_means("0: each head has its own").of_blocks(),
      option("value_width", &O::value_width, "Width of one head's values.")
          .between(0, 65536).unit("features").default_means("0: the width of a head").of_blocks(),
      option("score_mod", &O::score_mod,
             "Formula that replaces the scores s of self attention.")
          .formula_like("30 * tanh(s / 30)").default_means("none: scores stay unchanged").of_blocks(),
      option("mask_mod", &O::mask_mod,
             "Formula that is true for the keys j to which a query i may attend. The other options still apply.")
          .formula_like("i - j < 256 or j < 4").default_means("none: no further limit").of_blocks(),
      option("cross_score_mod", &O::cross_score_mod,
             "Formula that replaces the scores s of cross attention: i is the position in the output, j in the input.")
          .formula_like("s - 0.1 * abs(i - j)").default_means("none: scores stay unchanged"),
      option("cross_mask_mod", &O::cross_mask_mod,
             "Formula that is true for the input positions j to which an output position i may attend in cross "
             "attention.")
          .formula_like("abs(i - j) < 16").default_means("none: no further limit"),
      option("parameters", &O::parameters,
             "Parameters that the formulas use by name, each with its own table: [attention.parameters.NAME].")
          .made_of_tables().default_means("none")
          .only_if("attention.score_mod", {any_value}).or_if("attention.mask_mod", {any_value})
          .or_if("attention.cross_score_mod", {any_value}).or_if("attention.cross_mask_mod", {any_value}));
  return table;
}

const OptionTable<PositionOptions>& position_option_table() {
  using O = PositionOptions;
  static const auto table = option_table<O>(
      option("kind", &O::kind, "How the model represents the positions of tokens."),
      option("combine", &O::combine, "Positions are added to the token embeddings, or concatenated with them.")
          .one_of({"add", "concat"}).of_whole_model(),
      option("width", &O::width, "Width of concatenated positions.")
          .between(0, 65536).unit("features").default_means("0: model.width").of_whole_model()
          .only_if("position.combine", {"concat"}),
      option("concat", &O::concat,
             "Embeddings with concatenated positions are projected back to model.width, or make the model wider.")
          .one_of({"project", "widen"}).of_whole_model().only_if("position.combine", {"concat"}),
      option("shared", &O::shared,
             "Blocks with the same positional scheme share its parameters, if it acts within attention.")
          .unless("model.shared_layers", {"true"}));
  return table;
}

const OptionTable<RecurrentOptions>& recurrent_option_table() {
  using O = RecurrentOptions;
  static const auto table = option_table<O>(
      option("cell", &O::cell, "The cell, which computes a new state from an input and the previous state."),
      option("layers", &O::layers, "Number of stacked recurrent layers, in the encoder and in the decoder.")
          .between(1, 64).unit("layers"),
      option("bidirectional", &O::bidirectional,
             "The encoder reads in both directions. Each direction has half of model.width."),
      option("dropout", &O::dropout,
             "Dropout of each layer's states before the next layer: the fraction that is set to 0 in training.")
          .at_least(0).below(1),
      option("attention", &O::attention,
             "The decoder's attention to the source: none; with its previous state as the query, before the step "
             "(bahdanau, arXiv 1409.0473); with its new state as the query, after the step (luong, arXiv 1508.04025)."),
      option("input_feeding", &O::input_feeding,
             "The vector from which a step predicts its output is also an input of the next step (Luong 2015, section "
             "3.3)."),
      option("reach", &O::reach,
             "The source positions to which step t attends: all; those around t (local_m); those around a position "
             "that it predicts, weighted by a Gaussian (local_p) (Luong 2015, section 3.2).")
          .one_of({"global", "local_m", "local_p"}),
      option("window", &O::window, "Number of source positions on each side of the centre, for a local reach.")
          .between(1, 1e6).unit("positions").only_if("recurrent.reach", {"local_m", "local_p"}));
  return table;
}

const OptionTable<BlockOptions>& block_option_table() {
  using O = BlockOptions;
  static const auto table = option_table<O>(
      option("residual", &O::residual, "The sublayers that have a residual connection around them.")
          .one_of({"both", "attention", "ffn", "none"}),
      option("norm", &O::norm,
             "Where activations are normalised: before a sublayer (pre), after its residual sum (post), before it and "
             "at its output (sandwich; also called sandwich-LN or Peri-LN), only at its output, before the sum "
             "(output; as in OLMo 2), or nowhere (none).")
          .one_of({"pre", "post", "sandwich", "output", "none"}),
      option("norm_kind", &O::norm_kind, "The norm: layer (LayerNorm), rms (RMSNorm), scale (ScaleNorm) or dyt.")
          .unless("block.norm", {"none"}).or_if("model.embedding_norm", {"true"}),
      option("activation", &O::activation,
             "The nonlinearity of the feed-forward sublayer. Kinds that end in glu are gated: they have three "
             "matrices.")
          .only_if("block.ffn", {"true"}),
      option("ffn_width", &O::ffn_width, "Hidden width of the feed-forward sublayer.")
          .between(0, 1048576)
          .unit("features")
          .default_means("0: 4 * model.width").only_if("block.ffn", {"true"}),
      option("gated_width", &O::gated_width,
             "Hidden width of gated kinds: that of ffn_width (stated), or two thirds of it (matched), which gives them "
             "as many parameters as kinds without a gate have.")
          .one_of({"stated", "matched"}).only_if("block.ffn", {"true"}),
      option("bias", &O::bias, "The block's linear layers and layer norms have a bias."),
      option("dropout", &O::dropout, "Dropout of each sublayer's output: the fraction that is set to 0 in training.")
          .at_least(0)
          .below(1),
      option("ffn_dropout", &O::ffn_dropout,
             "Dropout in the feed-forward, after its activation: the fraction of hidden values that is set to 0 in "
             "training.")
          .at_least(0)
          .below(1).only_if("block.ffn", {"true"}),
      option("norm_bias", &O::norm_bias,
             "Layer norms have a bias: yes, no, or as in block.bias.")
          .one_of({"same", "yes", "no"}).unless("block.norm", {"none"}).or_if("model.embedding_norm", {"true"}),
      option("ffn", &O::ffn, "Blocks have a feed-forward sublayer. If false, they have only attention."),
      option("parallel", &O::parallel,
             "Attention and feed-forward read the same input, and their outputs are added, as in GPT-J.")
          .only_if("block.ffn", {"true"}),
      option("residual_scale", &O::residual_scale,
             "Factor of a sublayer's output before the residual sum: a number; a learned value that starts at 0 "
             "(rezero); or a learned value for each feature that starts at 0.1 (layerscale).")
          .one_of({"rezero", "layerscale"}).above(0).at_most(1000)
          .unless("block.residual", {"none"}).only_if("block.connection", {"sum"}),
      option("connection", &O::connection,
             "How a residual connection combines x and a sublayer's output f(x): by their sum; or with a gate T(x), as "
             "in highway networks: T(x) f(x) + (1 - T(x)) x.")
          .one_of({"sum", "highway"}).unless("block.residual", {"none"}),
      option("gate_bias", &O::gate_bias,
             "Initial bias of the highway gates. If it is below 0, each block starts close to the identity.")
          .between(-20, 20).initial_value().only_if("block.connection", {"highway"}));
  return table;
}

const OptionTable<MixerOptions>& mixer_option_table() {
  using O = MixerOptions;
  static const auto table = option_table<O>(
      option("kind", &O::kind,
             "What carries information from token to token: attention, or a recurrence over a matrix of state. A kind "
             "of recurrence only sets defaults of the other options.").of_blocks(),
      option("heads", &O::heads, "Number of heads, each with a state.")
          .between(0, 4096).unit("heads").default_means("0: model.heads").unless("mixer.kind", {"attention"}),
      option("key_heads", &O::key_heads, "Number of heads of queries and keys, which equal groups of heads share.")
          .between(0, 4096).unit("heads").default_means("0: each head has its own")
          .unless("mixer.kind", {"attention"}),
      option("key_width", &O::key_width, "Width of one head's queries and keys, before the feature map.")
          .between(0, 65536).unit("features").default_means("0: mixer.key_ratio * width / heads")
          .unless("mixer.kind", {"attention"}),
      option("key_ratio", &O::key_ratio, "Width of one head's queries and keys, as a multiple of width / heads.")
          .above(0).at_most(64).unless("mixer.key_width", {any_value}).unless("mixer.kind", {"attention"}),
      option("value_width", &O::value_width, "Width of one head's values.")
          .between(0, 65536).unit("features").default_means("0: mixer.value_ratio * width / heads")
          .unless("mixer.kind", {"attention"}),
      option("value_ratio", &O::value_ratio, "Width of one head's values, as a multiple of width / heads.")
          .above(0).at_most(64).unless("mixer.value_width", {any_value}).unless("mixer.kind", {"attention"}),
      option("bias", &O::bias, "The mixer's linear maps have a bias.").unless("mixer.kind", {"attention"}),
      option("convolution", &O::convolution,
             "Taps of a causal convolution of queries, keys and values along the tokens, channel by channel, before a "
             "SiLU.")
          .between(0, 1024).unit("tokens").default_means("0: none").unless("mixer.kind", {"attention"}),
      option("convolution_bias", &O::convolution_bias, "The convolution has a bias for each channel.")
          .only_if("mixer.convolution", {any_value}).unless("mixer.kind", {"attention"}),
      option("activation", &O::activation,
             "A nonlinearity of queries, keys and values. A convolution is followed by a SiLU in any case.")
          .one_of({"none", "silu"}).unless("mixer.convolution", {any_value}).unless("mixer.kind", {"attention"}),
      option("feature", &O::feature, "The feature map of queries and keys.").unless("mixer.kind", {"attention"}),
      option("query_key_norm", &O::query_key_norm,
             "A norm of the features of queries and keys in each head: to length 1 (l2), or to sum 1 (sum).")
          .one_of({"none", "l2", "sum"}).unless("mixer.kind", {"attention"}),
      option("position", &O::position,
             "Queries and keys are rotated by their position, as by position.kind = \"rotary\" with its defaults.")
          .one_of({"none", "rotary"}).unless("mixer.kind", {"attention"}),
      option("scale", &O::scale,
             "Factor of the queries: 1 / sqrt(width of a head's keys) (sqrt), none, or a number.")
          .one_of({"sqrt", "none"}).above(0).at_most(1000).unless("mixer.kind", {"attention"}),
      option("decay", &O::decay, "How much of the state each token keeps.").unless("mixer.kind", {"attention"}),
      option("keys", &O::keys,
             "Keys are projected from the tokens, or are the part of each channel that decays, 1 - exp(g) "
             "(complement).")
          .one_of({"projected", "complement"}).unless("mixer.decay", {"none"}).unless("mixer.kind", {"attention"}),
      option("write", &O::write,
             "The strength with which a token writes: its step (step), or the strength b of mixer.erase = \"head\", or "
             "1 where there is none (same).")
          .one_of({"same", "step"}).only_if("mixer.decay", {"softplus"}).unless("mixer.kind", {"attention"}),
      option("write_gate", &O::write_gate,
             "What a token writes is multiplied by sigmoid(W x), a number of each head, or of each channel of its "
             "values.")
          .one_of({"none", "head", "channel"}).unless("mixer.kind", {"attention"}),
      option("erase", &O::erase,
             "What the key reads in the state, k^T S, is taken away before the token writes, times a strength b = "
             "sigmoid(W x) of the head (head, the delta rule), or as (b k)^T S with one of each channel of the key "
             "(channel).")
          .one_of({"none", "head", "channel"}).unless("mixer.kind", {"attention"}),
      option("range", &O::range,
             "The erase with a key of length 1 multiplies what the key reads by 1 - b. With b = sigmoid(W x), this is "
             "in 0..1; with b = 2 sigmoid(W x), it is in -1..1.")
          .one_of({"0..1", "-1..1"}).unless("mixer.erase", {"none"}).unless("mixer.kind", {"attention"}),
      option("steps", &O::steps,
             "Keys that each token has, with their values and strengths of erase and write. They act on the state one "
             "after the other: the decay comes before the first, and the query reads after the last.")
          .between(1, 8).unit("keys").unless("mixer.kind", {"attention"}),
      option("normalizer", &O::normalizer,
             "Results are divided by the sum of the weights of all values, q . (sum of keys), as attention's "
             "normaliser sum does (sum), or not (none).")
          .one_of({"none", "sum"}).unless("mixer.kind", {"attention"}),
      option("skip", &O::skip, "A token's own value is added to its result, times a learned number of the head.")
          .unless("mixer.kind", {"attention"}),
      option("output_norm", &O::output_norm,
             "An RMSNorm of the results: of each head, with gains that heads share (rms_head), or of all heads "
             "together (rms).")
          .one_of({"none", "rms_head", "rms"}).unless("mixer.kind", {"attention"}),
      option("gate", &O::gate,
             "The results are multiplied by silu(W x) or sigmoid(W x), with x the input of the mixer.")
          .one_of({"none", "silu", "sigmoid"}).unless("mixer.kind", {"attention"}),
      option("gate_rank", &O::gate_rank,
             "W of the gate is one matrix (full), or the product of two whose rank is the width of a head's values "
             "(head); the second one has a bias.")
          .one_of({"full", "head"}).unless("mixer.gate", {"none"}).unless("mixer.kind", {"attention"}),
      option("gate_first", &O::gate_first, "The gate comes before the norm of the results.")
          .unless("mixer.gate", {"none"}).unless("mixer.output_norm", {"none"}).unless("mixer.kind", {"attention"}));
  return table;
}

// clang-format on

bool yes(const std::string& word, bool otherwise) { return word == "same" ? otherwise : word == "yes"; }

LayerChoice::LayerChoice() = default;
LayerChoice::LayerChoice(const LayerChoice&) = default;
LayerChoice::LayerChoice(LayerChoice&&) noexcept = default;
LayerChoice& LayerChoice::operator=(const LayerChoice&) = default;
LayerChoice& LayerChoice::operator=(LayerChoice&&) noexcept = default;
LayerChoice::~LayerChoice() = default;
bool LayerChoice::operator==(const LayerChoice&) const = default;

LayerChoice LayerChoice::for_cross_attention() const {
  LayerChoice out = *this;
  const auto choose = [](std::string& own, OptionValues& options, const std::string& other) {
    if (other == "same" || other == own) return;
    own = other;
    options.clear();
  };
  choose(out.attention.score, out.score_options, attention.cross_score);
  choose(out.attention.normalizer, out.normalizer_options, attention.cross_normalizer);
  choose(out.attention.projection, out.projection_options, attention.cross_projection);
  out.attention.score_mod = attention.cross_score_mod;
  out.attention.mask_mod = attention.cross_mask_mod;
  return out;
}

LayerChoice LayerChoice::without_formulas() const {
  LayerChoice out = *this;
  out.attention.score_mod.clear();
  out.attention.mask_mod.clear();
  out.attention.cross_score_mod.clear();
  out.attention.cross_mask_mod.clear();
  out.attention.parameters.clear();
  return out;
}

} // namespace heed
