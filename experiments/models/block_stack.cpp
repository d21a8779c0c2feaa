#include "experiments/models/block_stack.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/models/recurrent_parts.hpp"
#include "layers/for_each_sequence.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// The default standard deviation of token embeddings.
constexpr double register_deviation = 0.02;

// Does block n use the values of the first one by this part?
bool uses_first_values(const AttentionPartInfo& part, const std::vector<LayerChoice>& layers, std::size_t n) {
  return has_part(layers[n], part) &&
         part.uses_first_values(layers[n].part_options, static_cast<std::int64_t>(n), std::ssize(layers));
}

// Why a value of the part's option acts on no block of this stack or of the other one (Config::decoder_layers); empty:
// each value that some block has acts somewhere.
std::string idle_values(const Config& config, const AttentionPartInfo& part) {
  const std::string& name = part.about.name;
  std::map<std::string, bool> acts; // by the option's value
  for (const auto* stack : {&config.layers, &config.decoder_layers})
    for (std::size_t n = 0; n < stack->size(); ++n)
      if (has_part((*stack)[n], part)) {
        bool& act = acts[value_text((*stack)[n].part_options.at(name))];
        act = act || uses_first_values(part, *stack, n);
      }
  for (const auto& [value, act] : acts)
    if (!act)
      return fmt::format("{} = {} has no effect in the blocks that have it: blocks after the first one add the first "
                         "one's values (sparse: only those of the last third); choose it for a later block",
                         name, value);
  return "";
}

// The option by which block n uses the values of the first one; empty: it does not.
std::string user_of_first_values(const std::vector<LayerChoice>& layers, std::size_t n) {
  const MixerInfo& mixer = mixer_info(layers[n].mixer.kind);
  if (mixer.uses_first_values && mixer.uses_first_values(layers[n], static_cast<std::int64_t>(n)))
    return fmt::format("mixer.{}.value_residual", mixer.about.name);
  for (const AttentionPartInfo* part : attention_parts())
    if (part->uses_first_values && uses_first_values(*part, layers, n)) return part->about.name;
  return "";
}

// Why an option about the first block's values, which the first block has, acts on no block; empty: each acts.
std::string idle_in_first_block(const std::vector<LayerChoice>& layers) {
  if (layers.empty()) return "";
  const MixerInfo& mixer = mixer_info(layers[0].mixer.kind);
  if (!mixer.uses_first_values) return "";
  const auto value_in = [](const LayerChoice& layer, const Option& option) {
    const auto found = layer.mixer_options.find(option.name);
    return found == layer.mixer_options.end() ? option.default_value : found->second;
  };
  for (const Option& option : mixer.about.options) {
    if (option.name != "value_residual" && option.name != "value_rank") continue;
    const Value value = value_in(layers[0], option);
    const auto has_it = [&](const LayerChoice& layer) {
      return layer.mixer.kind == mixer.about.name && value_in(layer, option) == value;
    };
    if (value != option.default_value && std::none_of(layers.begin() + 1, layers.end(), has_it))
      return fmt::format(
          "mixer.{}.{} = {} has no effect in block 0, whose values later blocks use: choose it for a later "
          "block",
          mixer.about.name, option.name, value_text(value));
  }
  return "";
}

// Do later blocks use the values of the first one?
bool first_block_hands_on_values(const Config& config) {
  for (std::size_t n = 1; n < config.layers.size(); ++n)
    if (!user_of_first_values(config.layers, n).empty()) return true;
  return false;
}

// Why later blocks can't use the values of the first one as they should; empty: they can.
std::string wrong_first_values(const Config& config, std::int64_t width) {
  for (const AttentionPartInfo* part : attention_parts())
    if (part->uses_first_values)
      if (std::string why = idle_values(config, *part); !why.empty()) return why;
  if (std::string why = idle_in_first_block(config.layers); !why.empty()) return why;
  const MixerSizes sizes{.width = width, .heads = config.model.heads};
  for (std::size_t n = 1; n < config.layers.size(); ++n) {
    const std::string user = user_of_first_values(config.layers, n);
    if (user.empty()) continue;
    const LayerChoice &block = config.layers[n], &first_block = config.layers[0];
    const MixerInfo &mixer = mixer_info(block.mixer.kind), &of_first = mixer_info(first_block.mixer.kind);
    if (!of_first.shape_of_values)
      return fmt::format("{} adds the values of block 0 to those of block {}, and block 0 is a recurrence ({}) that "
                         "has none for others: choose attention or rwkv7 for it, or no {} for block {}",
                         user, n, of_first.about.name, user, n);
    const ValuesShape own = mixer.shape_of_values(block, sizes), first = of_first.shape_of_values(first_block, sizes);
    if (own != first)
      return fmt::format("{} adds the values of block 0 to those of block {}, so both need equal shapes: {} heads of "
                         "width {}, and {} of width {}; set one attention.key_value_heads and attention.value_width",
                         user, n, first.heads, first.width, own.heads, own.width);
  }
  return "";
}

// Why blocks that share their positions can't; empty: they can.
std::string wrong_shared_positions(const Config& config, std::int64_t width) {
  struct Shared {
    const LayerChoice* layer;
    RelativeSizes sizes;
  };
  std::vector<Shared> schemes;
  for (const LayerChoice& layer : config.layers) {
    if (!layer.position.shared || !has_attention(layer) || !position_info(layer.position.kind).make_relative) continue;
    const RelativeSizes own = MultiHeadAttention::relative_sizes(layer, {.width = width, .heads = config.model.heads});
    const auto found = std::ranges::find_if(schemes, [&](const Shared& of) {
      return of.layer->position.kind == layer.position.kind && of.layer->position_options == layer.position_options;
    });
    const RelativeSizes first = found == schemes.end() ? own : found->sizes;
    if (found == schemes.end()) schemes.push_back({&layer, own});
    if (own != first)
      return fmt::format("blocks that share their positions must have equal heads: some have {} of width {} (values: "
                         "{}), and some {} of width {} (values: {}); each map of attention.differential counts as a "
                         "head; make attention.differential, attention.head_width, attention.value_width and "
                         "attention.projection equal, or set position.shared = false",
                         first.heads, first.query_width, first.value_width, own.heads, own.query_width,
                         own.value_width);
  }
  return "";
}

// The width of a stack's vectors: the model's, and that of positions that make it wider.
std::int64_t width_of(const Config& config) {
  const PositionOptions& o = config.layers.front().position;
  const bool wider = position_info(o.kind).has_vectors && o.combine == "concat" && o.concat == "widen";
  return config.model.width + (!wider ? 0 : o.width ? o.width : config.model.width);
}

// The names by which a configuration has these options of cross attention.
std::vector<std::string> in_cross_attention(std::vector<std::string> options, const AttentionOptions& attention) {
  const std::map<std::string, std::pair<std::string, bool>> names = {
      {"attention.score", {"attention.cross_score", attention.cross_score != "same"}},
      {"attention.normalizer", {"attention.cross_normalizer", attention.cross_normalizer != "same"}},
      {"attention.projection", {"attention.cross_projection", attention.cross_projection != "same"}},
      {"attention.score_mod", {"attention.cross_score_mod", true}},
      {"attention.mask_mod", {"attention.cross_mask_mod", true}}};
  for (std::string& option : options)
    if (const auto found = names.find(option); found != names.end() && found->second.second)
      option = found->second.first;
  return options;
}

// Why no stack of these blocks can be made; none: it can. `memory_width`: of the encoder output; 0: there is none.
std::optional<WrongChoice> wrong_stack(const Config& config, std::int64_t memory_width,
                                       const std::map<std::string, Value>& of_model) {
  const std::int64_t width = width_of(config);
  const ValuesByName others(of_model.begin(), of_model.end());
  for (std::size_t n = 0; n < config.layers.size(); ++n) {
    const auto earlier = std::span(config.layers).first(n);
    if (std::ranges::find(earlier, config.layers[n]) != earlier.end()) continue;
    for (const bool is_self : {true, false}) {
      if (!is_self && memory_width == 0) continue;
      const MixerSizes sizes{.width = width,
                             .memory_width = is_self ? 0 : memory_width,
                             .heads = config.model.heads,
                             .registers = config.model.registers};
      const LayerChoice& layer = config.layers[n];
      const Refusal refused = is_self ? mixer_info(layer.mixer.kind).refusal_of(layer, sizes, others)
                                      : MultiHeadAttention::refusal_of(layer.for_cross_attention(), sizes, others);
      if (!refused) continue;
      return WrongChoice{is_self ? refused.options : in_cross_attention(refused.options, config.layers[n].attention),
                         refused.why, 0, n};
    }
  }
  for (const std::string& why : {wrong_first_values(config, width), wrong_shared_positions(config, width)})
    if (!why.empty()) return WrongChoice{{}, why};
  return std::nullopt;
}

// The scheme that adds to the embeddings; all blocks name the same one.
PositionalEmbedding embedding_positions(const Scope& scope, const Config& config, std::int64_t longest) {
  const LayerChoice block = config.layers.empty() ? LayerChoice() : config.layers.front();
  return {scope, block.position, block.position_options, config.model.width, longest};
}

} // namespace

BlockStack::BlockStack(const Scope& scope, const Config& config, const Sizes& sizes)
    : position(embedding_positions(scope / "position", config, sizes.longest)), dropout(config.model.dropout) {
  blocks.reserve(config.layers.size());
  for (const std::string& why : {wrong_first_values(config, width()), wrong_shared_positions(config, width())})
    if (!why.empty()) throw Failed("[attention] " + why);
  const bool hands_on_values = first_block_hands_on_values(config);
  RelativePositions relative(scope);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const Scope own = scope / "blocks" / std::to_string(i),
                block = config.model.shared_layers && i > 0 ? own.sharing(scope / "blocks" / "0") : own;
    const LayerChoice& choice = config.layers[i];
    std::shared_ptr<const RelativePosition> position;
    if (has_attention(choice)) {
      RelativeSizes heads = MultiHeadAttention::relative_sizes(choice, {.width = width(),
                                                                        .heads = config.model.heads,
                                                                        .longest = sizes.longest});
      heads.trained = sizes.trained;
      position = relative.for_block(block, choice.position, choice.position_options, heads);
    }
    blocks.emplace_back(block, choice,
                        Block::Sizes{.width = width(),
                                     .heads = config.model.heads,
                                     .residual_init = residual_init(config),
                                     .position = std::move(position),
                                     .longest = sizes.longest,
                                     .trained = sizes.trained,
                                     .memory_width = sizes.memory_width,
                                     .longest_memory = sizes.longest_memory,
                                     .trained_memory = sizes.trained_memory,
                                     .layer = static_cast<std::int64_t>(i),
                                     .layers = std::ssize(config.layers),
                                     .shared_layers = config.model.shared_layers,
                                     .hands_on_values = hands_on_values && i == 0,
                                     .registers = config.model.registers,
                                     .patches_in_row = sizes.patches_in_row});
  }
  if (config.model.registers > 0)
    registers = scope.vectors("registers", {config.model.registers, width()}, Init::normal(register_deviation));
  if (config.layers.empty()) return;
  const auto norm = [&](const char* name, const LayerChoice& of) {
    return make_norm(scope / name, of.block.norm_kind, {width(), yes(of.block.norm_bias, of.block.bias)},
                     of.norm_options);
  };
  if (config.model.embedding_norm) embedding_norm = norm("embedding_norm", config.layers.front());
  const std::string& last = config.layers.back().block.norm;
  if (last == "pre" || last == "sandwich" || last == "output") final_norm = norm("final_norm", config.layers.back());
}

Tensor BlockStack::operator()(Pass& pass, const Tensor& vectors, const Mask& mask) const {
  const auto call = [&](const Block& block, const Tensor& x, Tensor* first_values) {
    return block(pass, x, mask, first_values);
  };
  return finish(pass, through(pass, enter(pass, vectors, 0), call), 0);
}

Tensor BlockStack::enter(Pass& pass, const Tensor& x, std::int64_t first) const {
  Tensor y = position(pass, x, first);
  if (registers && first == 0) y = concat({for_each_sequence(pass(*registers), y.shape[0]), y}, 1);
  return pass.dropout(embedding_norm ? (*embedding_norm)(pass, y) : y, dropout);
}

Tensor BlockStack::finish(Pass& pass, const Tensor& x, std::int64_t first) const {
  const std::int64_t dropped = registers && first == 0 ? pass(*registers).shape[0] : 0;
  const Tensor y = dropped == 0 ? x : contiguous(slice(x, 1, dropped, x.shape[1] - dropped));
  return final_norm ? (*final_norm)(pass, y) : y;
}

Config encoder_config(const Config& config) {
  Config out = config;
  for (LayerChoice& layer : out.layers) layer.attention.causal = false;
  return out;
}

Config decoder_config(const Config& config) {
  Config out = config;
  out.layers = config.decoder_layers;
  out.decoder_layers = config.layers; // the other stack's
  out.model.layers = static_cast<std::int64_t>(out.layers.size());
  for (LayerChoice& layer : out.layers) layer.attention.causal = true;
  return out;
}

std::optional<WrongChoice> wrong_choice(const Config& config, const std::map<std::string, Value>& of_model) {
  const auto pooling = config.model_options.find("pooling");
  const bool is_recurrent = model_info(config.model.kind).stacks.empty();
  if (is_recurrent || (pooling != config.model_options.end() && pooling->second == Value(std::string("context"))))
    if (const Refusal refused = excluded(config.layers.back(), false)) // by which models with blocks pool
      return WrongChoice{refused.options, refused.why, 0, config.layers.size() - 1};
  if (is_recurrent) {
    const auto both = of_model.find("recurrent.bidirectional");
    const std::string why = both != of_model.end() && both->second == Value(true) ? wrong_recurrent_width(config) : "";
    return why.empty() ? std::nullopt : std::optional(WrongChoice{{}, why});
  }
  if (config.decoder_layers.empty()) return wrong_stack(config, 0, of_model);
  const Config encoder = encoder_config(config);
  if (auto wrong = wrong_stack(encoder, 0, of_model)) return wrong;
  auto wrong = wrong_stack(decoder_config(config), width_of(encoder), of_model);
  if (wrong) wrong->stack = 1;
  return wrong;
}

Config mixer_of_first_block(Config config) {
  config.layers.resize(1);
  for (const AttentionPartInfo* part : attention_parts()) // what changes later blocks
    if (part->uses_first_values) config.layers.front().part_options.erase(part->about.name);
  BlockOptions& block = config.layers.front().block;
  block.ffn = block.parallel = false;
  block.norm = block.residual = "none";
  return config;
}

} // namespace heed::HEED_REAL
