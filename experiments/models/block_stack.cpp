#include "experiments/models/block_stack.hpp"

#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "layers/for_each_row.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
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

// Each value of the part's option that some block has must act on some block of this stack or of the other one
// (Config::decoder_layers).
void check_that_values_act(const Config& config, const AttentionPartInfo& part) {
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
      throw Failed(fmt::format("[attention] {} = {} has no effect in the blocks that have it: blocks after the first "
                               "one add the first one's values (sparse: only those of the last third); choose it for a "
                               "later block",
                               name, value));
}

// Do later blocks use the values of the first one?
bool first_block_hands_on_values(const Config& config, std::int64_t width) {
  const auto shape_of_values = [&](const LayerChoice& layer) {
    const AttentionOptions& o = layer.attention;
    return std::pair{o.key_value_heads ? o.key_value_heads : config.model.heads,
                     o.value_width ? o.value_width : width / config.model.heads};
  };
  bool out = false;
  for (const AttentionPartInfo* part : attention_parts()) {
    if (!part->uses_first_values) continue;
    check_that_values_act(config, *part);
    for (std::size_t n = 1; n < config.layers.size(); ++n) {
      if (!uses_first_values(*part, config.layers, n)) continue;
      out = true;
      const auto own = shape_of_values(config.layers[n]), first = shape_of_values(config.layers[0]);
      if (own != first)
        throw Failed(fmt::format("[attention] {} adds the values of block 0 to those of block {}, so both need equal "
                                 "shapes: {} heads of width {}, and {} of width {}; set one attention.key_value_heads "
                                 "and attention.value_width",
                                 part->about.name, n, first.first, first.second, own.first, own.second));
    }
  }
  return out;
}

// The scheme that adds to the embeddings; all blocks name the same one.
PositionalEmbedding embedding_positions(const Scope& scope, const Config& config, std::int64_t longest) {
  const LayerChoice block = config.layers.empty() ? LayerChoice() : config.layers.front();
  return {scope, block.position, block.position_options, config.model.width, longest};
}

} // namespace

BlockStack::BlockStack(const Scope& scope, const Config& config, const Sizes& shape)
    : position(embedding_positions(scope / "position", config, shape.longest)), dropout(config.model.dropout) {
  blocks.reserve(config.layers.size());
  const bool hands_on_values = first_block_hands_on_values(config, width());
  RelativePositions relative(scope);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const Scope own = scope / "blocks" / std::to_string(i),
                block = config.model.shared_layers && i > 0 ? own.sharing(scope / "blocks" / "0") : own;
    const LayerChoice& choice = config.layers[i];
    RelativeSizes heads = MultiHeadAttention::relative_sizes(choice, {.width = width(),
                                                                      .heads = config.model.heads,
                                                                      .longest = shape.longest});
    heads.trained = shape.trained;
    blocks.emplace_back(block, choice,
                        Block::Sizes{
                            .width = width(),
                            .heads = config.model.heads,
                            .residual_init = residual_init(config),
                            .position = relative.for_block(block, choice.position, choice.position_options, heads),
                            .longest = shape.longest,
                            .trained = shape.trained,
                            .memory_width = shape.memory_width,
                            .longest_memory = shape.longest_memory,
                            .trained_memory = shape.trained_memory,
                            .layer = static_cast<std::int64_t>(i),
                            .layers = std::ssize(config.layers),
                            .shared_layers = config.model.shared_layers,
                            .hands_on_values = hands_on_values && i == 0,
                            .registers = config.model.registers,
                            .patches_in_row = shape.patches_in_row});
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
  if (registers && first == 0) y = concat({for_each_row(pass(*registers), y.shape[0]), y}, 1);
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

Config attention_of_first_block(Config config) {
  config.layers.resize(1);
  for (const AttentionPartInfo* part : attention_parts()) // what changes later blocks
    if (part->uses_first_values) config.layers.front().part_options.erase(part->about.name);
  BlockOptions& block = config.layers.front().block;
  block.ffn = block.parallel = false;
  block.norm = block.residual = "none";
  return config;
}

} // namespace heed::HEED_REAL
