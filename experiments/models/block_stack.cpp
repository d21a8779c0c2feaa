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
                                     .longest_memory = shape.longest_memory});
  }
  const auto ends_in_a_sum = [](const std::string& norm) { return norm == "pre" || norm == "sandwich"; };
  if (!config.layers.empty() && ends_in_a_sum(config.layers.back().block.norm))
    final_norm.emplace(scope / "final_norm", config.layers.back().block.norm_kind, width(),
                       yes(config.layers.back().block.norm_bias, config.layers.back().block.bias));
}

Tensor BlockStack::operator()(Pass& pass, const Tensor& vectors, const std::int32_t* lengths) const {
  const Mask mask{.lengths = lengths};
  const auto call = [&](const Block& block, const Tensor& x) { return block(pass, x, mask); };
  return finish(pass, through(pass, enter(pass, vectors, 0), call));
}

} // namespace heed::HEED_REAL
