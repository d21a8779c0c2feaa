#include "experiments/models/transformer.hpp"

#include "experiments/config/config.hpp"

#include <algorithm>
#include <cmath>

namespace heed::HEED_REAL {

Transformer::Transformer(const Scope& scope, const Config& config, const TaskShape& shape)
    : Transformer(scope, config,
                  StackShape{
                      .vocabulary = shape.vocabulary, .longest = shape.length, .trained = shape.trained_length}) {}

Transformer::Transformer(const Scope& scope, const Config& config, const StackShape& shape)
    : embedding(shape.embedding ? *shape.embedding
                                : Embedding(scope / "embedding", shape.vocabulary, config.model.width)),
      stack(scope, config,
            {shape.longest, shape.trained, shape.memory_width, shape.longest_memory, shape.trained_memory}),
      embedding_factor(config.model.embedding_scale == "sqrt"
                           ? static_cast<Real>(std::sqrt(static_cast<double>(config.model.width)))
                           : Real{1}) {}

Tensor Transformer::embed(Pass& pass, const TokenRows& rows) const {
  const Tensor x = embedding(pass, rows.tokens, {rows.rows, rows.length});
  return embedding_factor == 1 ? x : scale(x, embedding_factor);
}

Tensor Transformer::operator()(Pass& pass, const Batch& batch) const {
  return (*this)(pass, TokenRows{batch.tokens.data(), batch.rows, batch.length, batch.lengths.data()});
}

Tensor Transformer::operator()(Pass& pass, const TokenRows& rows) const {
  return stack(pass, embed(pass, rows), rows.lengths);
}

Tensor Transformer::operator()(Pass& pass, const TokenRows& rows, const Memory& memory) const {
  const Mask mask{.lengths = rows.lengths}, memory_mask{.lengths = memory.lengths};
  const auto call = [&](const Block& block, const Tensor& x, Tensor* first_values) {
    return block(pass, x, mask, memory.vectors, memory_mask, first_values);
  };
  return stack.finish(pass, stack.through(pass, stack.enter(pass, embed(pass, rows), 0), call), 0);
}

Transformer::Past Transformer::start(Pass& pass, const Memory* memory) const {
  Past past{.length = 0, .blocks = std::vector<Block::Past>(stack.blocks.size())};
  if (memory)
    for (std::size_t i = 0; i < stack.blocks.size(); ++i)
      stack.blocks[i].remember(pass, memory->vectors, past.blocks[i]);
  return past;
}

Tensor Transformer::step(Pass& pass, const TokenRows& next, Past& past, const std::int32_t* memory_lengths) const {
  Tensor x = stack.enter(pass, embed(pass, next), past.length);
  Tensor first_values;
  for (std::size_t i = 0; i < stack.blocks.size(); ++i)
    x = stack.blocks[i].step(pass, x, past.blocks[i], Mask{.lengths = memory_lengths}, &first_values);
  const Tensor y = stack.finish(pass, x, past.length);
  past.length += next.length;
  return y;
}

Head::Head(const Scope& scope, const Config& config, const Transformer& decoder, std::int64_t classes)
    : embedding_(decoder.embedding.weight) {
  const bool biased = has_head_bias(config, false);
  const Scope own = (scope / "output").of_head();
  if (!config.model.tied_embeddings) {
    own_.emplace(own, decoder.width(), classes, biased);
    return;
  }
  if (decoder.width() != config.model.width)
    throw Failed(fmt::format("[model] tied embeddings are {} wide, and the widened model {}: set "
                             "model.tied_embeddings = false, or position.concat = \"project\"",
                             config.model.width, decoder.width()));
  if (biased) bias_ = own.plain("bias", {classes}, Init::zeros());
}

Tensor Head::operator()(Pass& pass, const Tensor& x) const {
  if (own_) return (*own_)(pass, x);
  return bias_ ? linear(x, pass(embedding_), pass(*bias_)) : linear(x, pass(embedding_));
}

bool Transformer::serves_steps() const {
  return std::all_of(stack.blocks.begin(), stack.blocks.end(), [](const Block& block) { return block.serves_steps(); });
}

} // namespace heed::HEED_REAL
