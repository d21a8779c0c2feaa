#include "experiments/models/block_stack.hpp"

#include <string>

namespace heed::HEED_REAL {

BlockStack::BlockStack(const Scope& scope, const Config& config, std::int64_t longest)
    : position(scope / "position", config.position, config.position_options, config.model.width, longest),
      dropout(config.model.dropout) {
  blocks.reserve(config.layers.size());
  RelativePositions relative(scope, config.position, config.position_options);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const Scope block = scope / "blocks" / std::to_string(i);
    const RelativeShape heads = MultiHeadAttention::relative_shape(
        config.layers[i], {.width = width(), .heads = config.model.heads, .longest = longest});
    blocks.emplace_back(block, config.layers[i],
                        Block::Shape{.width = width(), .heads = config.model.heads, .residual_init = residual_init(config),
                                     .position = relative.for_block(block, heads), .longest = longest});
  }
  if (!config.layers.empty() && config.layers.back().block.norm == "pre")
    final_norm.emplace(scope / "final_norm", config.layers.back().block.norm_kind, width(),
                       config.layers.back().block.bias);
}

Tensor BlockStack::operator()(Pass& pass, const Tensor& vectors, const std::int32_t* lengths) const {
  Tensor x = pass.dropout(position(pass, vectors), dropout);
  const Mask mask{.lengths = lengths};
  for (const Block& block : blocks) x = block(pass, x, mask);
  return final_norm ? (*final_norm)(pass, x) : x;
}

} // namespace heed::HEED_REAL
