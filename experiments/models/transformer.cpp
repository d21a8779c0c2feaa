#include "experiments/models/transformer.hpp"

#include <cmath>
#include <string>

namespace heed::HEED_REAL {

Transformer::Transformer(const Scope& scope, const Config& config, const TaskShape& shape)
    : embedding(scope / "embedding", shape.vocabulary, config.model.width),
      position(scope / "position", config.position, config.position_options, config.model.width, shape.length),
      embedding_factor(config.model.embedding_scale == "sqrt"
                           ? static_cast<Real>(std::sqrt(static_cast<double>(config.model.width)))
                           : Real{1}),
      dropout(config.model.dropout) {
  blocks.reserve(config.layers.size());
  RelativePositions relative(scope, config.position, config.position_options);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const Scope block = scope / "blocks" / std::to_string(i);
    const RelativeShape heads = MultiHeadAttention::relative_shape(
        config.layers[i], {.width = width(), .heads = config.model.heads, .longest = shape.length});
    blocks.emplace_back(block, config.layers[i],
                        Block::Shape{.width = width(), .heads = config.model.heads, .residual_init = residual_init(config),
                                     .position = relative.for_block(block, heads), .longest = shape.length});
  }
  if (!config.layers.empty() && config.layers.back().block.norm == "pre")
    final_norm.emplace(scope / "final_norm", config.layers.back().block.norm_kind, width(),
                       config.layers.back().block.bias);
}

Tensor Transformer::operator()(Pass& pass, const Batch& batch) const {
  Tensor x = embedding(pass, batch.tokens.data(), {batch.rows, batch.length});
  if (embedding_factor != 1) x = scale(x, embedding_factor);
  x = pass.dropout(position(pass, x), dropout);
  const Mask mask{.lengths = batch.lengths.data()};
  for (const Block& block : blocks) x = block(pass, x, mask);
  return final_norm ? (*final_norm)(pass, x) : x;
}

} // namespace heed::HEED_REAL
