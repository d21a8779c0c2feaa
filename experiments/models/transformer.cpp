#include "experiments/models/transformer.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace heed::HEED_REAL {

Transformer::Transformer(const Scope& scope, const Config& config, const TaskShape& shape)
    : Transformer(scope, config, StackShape{.vocabulary = shape.vocabulary, .longest = shape.length}) {}

Transformer::Transformer(const Scope& scope, const Config& config, const StackShape& shape)
    : embedding(shape.embedding ? *shape.embedding
                                : Embedding(scope / "embedding", shape.vocabulary, config.model.width)),
      position(scope / "position", config.position, config.position_options, config.model.width, shape.longest),
      embedding_factor(config.model.embedding_scale == "sqrt"
                           ? static_cast<Real>(std::sqrt(static_cast<double>(config.model.width)))
                           : Real{1}),
      dropout(config.model.dropout) {
  blocks.reserve(config.layers.size());
  RelativePositions relative(scope, config.position, config.position_options);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const Scope block = scope / "blocks" / std::to_string(i);
    const RelativeShape heads = MultiHeadAttention::relative_shape(
        config.layers[i], {.width = width(), .heads = config.model.heads, .longest = shape.longest});
    blocks.emplace_back(block, config.layers[i],
                        Block::Shape{.width = width(), .heads = config.model.heads, .residual_init = residual_init(config),
                                     .position = relative.for_block(block, heads), .longest = shape.longest,
                                     .memory_width = shape.memory_width, .longest_memory = shape.longest_memory});
  }
  if (!config.layers.empty() && config.layers.back().block.norm == "pre")
    final_norm.emplace(scope / "final_norm", config.layers.back().block.norm_kind, width(),
                       config.layers.back().block.bias);
}

Tensor Transformer::embed(Pass& pass, const TokenRows& rows, std::int64_t first) const {
  Tensor x = embedding(pass, rows.tokens, {rows.rows, rows.length});
  if (embedding_factor != 1) x = scale(x, embedding_factor);
  return pass.dropout(position(pass, x, first), dropout);
}

Tensor Transformer::operator()(Pass& pass, const Batch& batch) const {
  return (*this)(pass, TokenRows{batch.tokens.data(), batch.rows, batch.length, batch.lengths.data()});
}

Tensor Transformer::operator()(Pass& pass, const TokenRows& rows) const {
  Tensor x = embed(pass, rows, 0);
  const Mask mask{.lengths = rows.lengths};
  for (const Block& block : blocks) x = block(pass, x, mask);
  return finish(pass, x);
}

Tensor Transformer::operator()(Pass& pass, const TokenRows& rows, const Memory& memory) const {
  Tensor x = embed(pass, rows, 0);
  const Mask mask{.lengths = rows.lengths}, memory_mask{.lengths = memory.lengths};
  for (const Block& block : blocks) x = block(pass, x, mask, memory.vectors, memory_mask);
  return finish(pass, x);
}

Transformer::Past Transformer::start(Pass& pass, const Memory* memory) const {
  Past past{.length = 0, .blocks = std::vector<Block::Past>(blocks.size())};
  if (memory)
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i].remember(pass, memory->vectors, past.blocks[i]);
  return past;
}

Tensor Transformer::step(Pass& pass, std::span<const std::int32_t> tokens, Past& past,
                         const std::int32_t* memory_lengths) const {
  Tensor x = embed(pass, {tokens.data(), std::ssize(tokens), 1}, past.length);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    x = blocks[i].step(pass, x, past.blocks[i], Mask{.lengths = memory_lengths});
  ++past.length;
  return finish(pass, x);
}

bool Transformer::serves_steps() const {
  return std::all_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.serves_steps(); });
}

} // namespace heed::HEED_REAL
