#include "layers/layer_options.hpp"

namespace heed {

// clang-format off

const OptionTable<AttentionOptions>& attention_option_table() {
  using O = AttentionOptions;
  static const auto table = option_table<O>(
      option("score", &O::score, "The score function s(q, k) of queries and keys."),
      option("normalizer", &O::normalizer, "What turns a row of scores into attention weights."),
      option("causal", &O::causal, "A position attends only to itself and to what is before it."),
      option("prefix", &O::prefix,
             "How many of the first positions are seen by all, beyond a window, too, and so that they see each other, "
             "where causal. (A language model that predicts within its prefix sees what it is to predict there.)")
          .at_least(0).at_most(1e9).unit("positions")
          .default_means("0: no more than causal and window let through").neutral(0),
      option("window", &O::window,
             "How many positions on each side of its own a query attends to, besides those of a prefix.")
          .at_least(0).at_most(1e9).unit("positions").default_means("0: no window"),
      option("dilation", &O::dilation,
             "A query attends to positions so far apart: to its own, and to those at distances that are multiples of "
             "this, of which a window counts as many on each side. A prefix is seen whole.")
          .at_least(1).at_most(1e6).unit("positions").default_means("1: to every position").neutral(1),
      option("head_width", &O::head_width, "Width of each head's queries and keys.")
          .at_least(0).at_most(65536).unit("features").default_means("0: model.width / model.heads"),
      option("dropout", &O::dropout, "Fraction of the attention weights that are zeroed in training.")
          .at_least(0).below(1),
      option("cross_score", &O::cross_score,
             "The score of a decoder's attention to the encoder: as in self attention, or another one, with "
             "its defaults.")
          .one_of({"same"}).or_variant_of("attention.score"),
      option("cross_normalizer", &O::cross_normalizer, "The normaliser of that attention, likewise.")
          .one_of({"same"}).or_variant_of("attention.normalizer"),
      option("qkv_bias", &O::qkv_bias,
             "Queries, keys and values have a bias: as block.bias says, or by themselves, yes or no.")
          .one_of({"same", "yes", "no"}).neutral("same"),
      option("output_bias", &O::output_bias, "The projection after the heads has a bias, likewise.")
          .one_of({"same", "yes", "no"}).neutral("same"),
      option("key_value_heads", &O::key_value_heads,
             "Heads of keys and values, each of which as many heads share (grouped-query attention; 1: multi-query).")
          .at_least(0).at_most(65536).unit("heads").default_means("0: each head has its own").neutral(0),
      option("value_width", &O::value_width, "Width of one head's values.")
          .at_least(0).at_most(65536).unit("features").default_means("0: the width of a head").neutral(0),
      option("query_key_norm", &O::query_key_norm,
             "Each head's queries and keys are normalised before they meet, with a learned gain for each feature.")
          .one_of({"none", "layer", "rms"}).neutral("none"),
      option("talking_heads", &O::talking_heads,
             "What heads mix by learned maps between them: their scores, the weights that the normaliser makes, or "
             "both.")
          .one_of({"none", "scores", "weights", "both"}).neutral("none"),
      option("score_mod", &O::score_mod,
             "What self attention's scores s become.")
          .formula_like("30 * tanh(s / 30)").default_means("none: they stay as they are").neutral(""),
      option("mask_mod", &O::mask_mod,
             "Which keys j a query i may attend to, of those that the other options let through.")
          .formula_like("i - j < 256 or j < 4").default_means("none: all of these").neutral(""),
      option("parameters", &O::parameters,
             "Numbers that the formulas use by their names, each with a table of its own: [attention.parameters.NAME].")
          .made_of_tables().default_means("none").neutral({}));
  return table;
}

const OptionTable<PositionOptions>& position_option_table() {
  using O = PositionOptions;
  static const auto table = option_table<O>(
      option("kind", &O::kind, "How a model knows where a token stands."),
      option("combine", &O::combine, "Whether positions are added to the token embeddings or put beside them.")
          .one_of({"add", "concat"}),
      option("width", &O::width, "Width of concatenated positions.")
          .at_least(0).at_most(65536).unit("features").default_means("0: model.width"),
      option("concat", &O::concat,
             "Whether embeddings with concatenated positions are projected back to model.width, or widen the model.")
          .one_of({"project", "widen"}),
      option("shared", &O::shared, "All blocks share the numbers of a scheme that acts within attention."));
  return table;
}

const OptionTable<RecurrentOptions>& recurrent_option_table() {
  using O = RecurrentOptions;
  static const auto table = option_table<O>(
      option("cell", &O::cell, "What makes a new state of an input and the state before."),
      option("layers", &O::layers, "Recurrent layers on top of each other, in the encoder and in the decoder.")
          .at_least(1).at_most(64).unit("layers"),
      option("bidirectional", &O::bidirectional,
             "The encoder reads from both ends; each direction has half of model.width, so that both "
             "together have all."),
      option("dropout", &O::dropout, "Fraction of each layer's states that are zeroed, on their way up, in training.")
          .at_least(0).below(1),
      option("attention", &O::attention,
             "How the decoder looks at the source: not at all; with its previous state, before the step (bahdanau, "
             "arXiv 1409.0473); with its new state, after the step (luong, arXiv 1508.04025)."),
      option("input_feeding", &O::input_feeding,
             "The vector that a step's output is read from goes into the next step, too (Luong 2015, section 3.3)."),
      option("reach", &O::reach,
             "The source positions that step t sees: all; those around t (local_m); those around a place that it "
             "predicts, weighted by a Gaussian (local_p) (Luong 2015, section 3.2).")
          .one_of({"global", "local_m", "local_p"}),
      option("window", &O::window, "How many source positions a local reach has on each side of its middle.")
          .at_least(1).at_most(1e6).unit("positions"));
  return table;
}

const OptionTable<BlockOptions>& block_option_table() {
  using O = BlockOptions;
  static const auto table = option_table<O>(
      option("residual", &O::residual, "The sublayers that have a residual connection around them.")
          .one_of({"both", "attention", "ffn", "none"}),
      option("norm", &O::norm,
             "Where the normalisation of activations stands: before a sublayer, after the sum that it ends in, before "
             "it and on what it gives (sandwich), or nowhere.")
          .one_of({"pre", "post", "sandwich", "none"}),
      option("norm_kind", &O::norm_kind, "Layer normalisation, or normalisation by the root mean square.")
          .one_of({"layer", "rms"}),
      option("activation", &O::activation, "The nonlinearity of the feed-forward sublayer; swiglu is a gated one.")
          .one_of({"relu", "gelu", "gelu_tanh", "silu", "swiglu"}),
      option("ffn_width", &O::ffn_width, "Hidden width of the feed-forward sublayer.")
          .at_least(0)
          .at_most(1048576)
          .unit("features")
          .default_means("0: 4 * model.width"),
      option("bias", &O::bias, "The block's linear maps and layer norms have a bias."),
      option("dropout", &O::dropout, "Fraction of each sublayer's output that is zeroed in training.")
          .at_least(0)
          .below(1),
      option("ffn_dropout", &O::ffn_dropout,
             "Fraction of the feed-forward's hidden values, after the activation, that are zeroed in training.")
          .at_least(0)
          .below(1)
          .neutral(0.0),
      option("norm_bias", &O::norm_bias,
             "Layer norms have a bias: as block.bias says, or by themselves, yes or no.")
          .one_of({"same", "yes", "no"}).neutral("same"),
      option("ffn", &O::ffn, "Blocks have a feed-forward sublayer; if not, they are attention alone.").neutral(true),
      option("parallel", &O::parallel,
             "Attention and feed-forward read the same input, and what both give is added, as in GPT-J.")
          .neutral(false),
      option("residual_scale", &O::residual_scale,
             "What a sublayer's output is multiplied with before it is added: a number; a learned number that "
             "starts at 0 (rezero); or a learned one for each feature that starts at 0.1 (layerscale).")
          .one_of({"rezero", "layerscale"}).above(0).at_most(1000).neutral(WordOrNumber{"", 1}),
      option("connection", &O::connection,
             "What a residual connection makes of x and a sublayer's f(x): their sum; or, between the two, what a gate "
             "T(x) lets through of f(x), as in highway networks: T(x) f(x) + (1 - T(x)) x.")
          .one_of({"sum", "highway"}).neutral("sum"),
      option("gate_bias", &O::gate_bias,
             "What the biases of these gates start with; below 0, blocks start as if they weren't there, nearly.")
          .at_least(-20).at_most(20).neutral(-2.0));
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

LayerChoice LayerChoice::for_cross_attention() const {
  LayerChoice out = *this;
  const auto choose = [](std::string& own, OptionValues& options, const std::string& other) {
    if (other == "same" || other == own) return;
    own = other;
    options.clear();
  };
  choose(out.attention.score, out.score_options, attention.cross_score);
  choose(out.attention.normalizer, out.normalizer_options, attention.cross_normalizer);
  return out.without_formulas();
}

LayerChoice LayerChoice::without_formulas() const {
  LayerChoice out = *this;
  out.attention.score_mod.clear();
  out.attention.mask_mod.clear();
  out.attention.parameters.clear();
  return out;
}

} // namespace heed
