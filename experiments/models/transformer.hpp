// What the Transformers over tokens share: embeddings, and blocks.
#pragma once

#include "experiments/models/block_stack.hpp"
#include "layers/embedding.hpp"
#include "layers/linear.hpp"

#include <optional>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// Rows of tokens, padded to one length.
struct TokenRows {
  const std::int32_t* tokens; ///< [rows, length]
  std::int64_t rows, length;
  const std::int32_t* lengths = nullptr; ///< [rows]; null: no padding
};

/// What a decoder's blocks attend to besides themselves.
struct Memory {
  Tensor vectors;                        ///< [rows, length, width]
  const std::int32_t* lengths = nullptr; ///< [rows]; null: no padding
};

/// What a stack of blocks is made for.
struct StackShape {
  std::int64_t vocabulary = 0;
  std::int64_t longest = 0;      ///< row of tokens
  std::int64_t memory_width = 0; ///< 0: there is no memory
  std::int64_t longest_memory = 0;
  std::optional<Embedding> embedding{}; ///< another's, to be shared; else it gets its own
};

/// A stack of blocks over embedded tokens.
struct Transformer {
  Embedding embedding; ///< named `embedding`
  BlockStack stack;
  Real embedding_factor; ///< what token embeddings are multiplied with

  /// Of tokens of the task's input.
  Transformer(const Scope& scope, const Config& config, const TaskShape& shape);
  Transformer(const Scope& scope, const Config& config, const StackShape& shape);

  /// The last block's vectors: [rows, length, width()].
  Tensor operator()(Pass& pass, const Batch& batch) const;
  Tensor operator()(Pass& pass, const TokenRows& rows) const;
  Tensor operator()(Pass& pass, const TokenRows& rows, const Memory& memory) const;

  /// What it keeps of the steps of some rows.
  struct Past {
    std::int64_t length = 0;
    std::vector<Block::Past> blocks;
  };
  /// Before the first step; keeps what the blocks need of the memory, if there is one.
  Past start(Pass& pass, const Memory* memory) const;
  /// The next tokens of each row, as many of all: [rows, length, width()].
  Tensor step(Pass& pass, const TokenRows& next, Past& past, const std::int32_t* memory_lengths) const;
  /// Does a step give what the whole row gives?
  bool serves_steps() const;

  std::int64_t width() const { return stack.width(); }

private:
  Tensor embed(Pass& pass, const TokenRows& rows) const;
};

/// From a decoder's vectors [..., width] to logits [..., classes]: a linear map of its own, or, with [model]
/// tied_embeddings, by the token embeddings. Without more said, it has no bias.
class Head {
public:
  /// Parameters are named `output`. Throws heed::Failed where tied embeddings are not as wide as the vectors.
  Head(const Scope& scope, const Config& config, const Transformer& decoder, std::int64_t classes);

  Tensor operator()(Pass& pass, const Tensor& x) const;

private:
  ParameterId embedding_;
  std::optional<Linear> own_;
  std::optional<ParameterId> bias_; // of a tied one
};

} // namespace heed::HEED_REAL
