#include "experiments/models/block_stack.hpp"

#include "experiments/config/config.hpp"

#include <string>

namespace heed::HEED_REAL {

BlockStack::BlockStack(const Scope& scope, const Config& config, const Shape& shape)
    : position(scope / "position", config.position, config.position_options, config.model.width, shape.longest),
      dropout(config.model.dropout) {
  blocks.reserve(config.layers.size());
  RelativePositions relative(scope, config.position, config.position_options);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const Scope own = scope / "blocks" / std::to_string(i),
                block = config.model.shared_layers && i > 0 ? own.sharing(scope / "blocks" / "0") : own;
    const RelativeShape heads = MultiHeadAttention::relative_shape(config.layers[i], {.width = width(),
                                                                                      .heads = config.model.heads,
                                                                                      .longest = shape.longest});
    blocks.emplace_back(block, config.layers[i],
                        Block::Shape{.width = width(),
                                     .heads = config.model.heads,
                                     .residual_init = residual_init(config),
                                     .position = relative.for_block(block, heads),
                                     .longest = shape.longest,
                                     .memory_width = shape.memory_width,
                                     .longest_memory = shape.longest_memory,
                                     .layer = static_cast<std::int64_t>(i)});
  }
  if (config.layers.empty()) return;
  const auto norm = [&](const char* name, const LayerChoice& of) {
    return make_norm(scope / name, of.block.norm_kind, {width(), yes(of.block.norm_bias, of.block.bias)},
                     of.norm_options);
  };
  if (config.model.embedding_norm) embedding_norm = norm("embedding_norm", config.layers.front());
  const std::string& last = config.layers.back().block.norm;
  if (last == "pre" || last == "sandwich" || last == "output") final_norm = norm("final_norm", config.layers.back());
}

Tensor BlockStack::operator()(Pass& pass, const Tensor& vectors, const std::int32_t* lengths) const {
  const Mask mask{.lengths = lengths};
  const auto call = [&](const Block& block, const Tensor& x) { return block(pass, x, mask); };
  return finish(pass, through(pass, enter(pass, vectors, 0), call));
}

} // namespace heed::HEED_REAL
