// The common parts of Transformers over tokens: embedded tokens through a stack of blocks, and the output layer for
// logits.
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

/// The encoder output that a decoder's blocks attend to.
struct Memory {
  Tensor vectors;                        ///< [rows, length, width]
  const std::int32_t* lengths = nullptr; ///< [rows]; null: no padding
};

/// The sizes for which a stack of blocks is built.
struct StackShape {
  std::int64_t vocabulary = 0;
  std::int64_t longest = 0;      ///< maximum number of tokens of a row
  std::int64_t trained = 0;      ///< the same in training; 0: `longest`
  std::int64_t memory_width = 0; ///< width of the encoder output; 0: no cross attention
  std::int64_t longest_memory = 0;
  std::int64_t trained_memory = 0;      ///< maximum length of the encoder output in training; 0: `longest_memory`
  std::optional<Embedding> embedding{}; ///< an existing embedding to share; empty: the stack gets its own
};

/// A stack of blocks over embedded tokens.
struct Transformer {
  Embedding embedding; ///< named `embedding`
  BlockStack stack;
  Real embedding_factor; ///< token embeddings are multiplied by it

  /// For the tokens of the task's input.
  Transformer(const Scope& scope, const Config& config, const TaskShape& shape);
  Transformer(const Scope& scope, const Config& config, const StackShape& shape);

  /// The last block's output: [rows, length, width()].
  Tensor operator()(Pass& pass, const Batch& batch) const;
  Tensor operator()(Pass& pass, const TokenRows& rows) const;
  Tensor operator()(Pass& pass, const TokenRows& rows, const Memory& memory) const;

  /// The state of step-by-step decoding of some rows.
  struct Past {
    std::int64_t length = 0;
    std::vector<Block::Past> blocks;
  };
  /// The state before the first step. It includes the blocks' projections of the encoder output, if there is one.
  Past start(Pass& pass, const Memory* memory) const;
  /// Processes the next tokens of each row, the same number for all rows. Returns [rows, length, width()].
  Tensor step(Pass& pass, const TokenRows& next, Past& past, const std::int32_t* memory_lengths) const;
  /// True if step-by-step decoding gives the same result as the whole row.
  bool serves_steps() const;

  std::int64_t width() const { return stack.width(); }

private:
  Tensor embed(Pass& pass, const TokenRows& rows) const;
};

/// The output layer: maps a decoder's vectors [..., width] to logits [..., classes]. It is a linear layer of its own,
/// or, with [model] tied_embeddings, uses the token embeddings. By default it has no bias.
class Head {
public:
  /// Parameters are named `output`. Throws heed::Failed if tied embeddings do not have the width of the vectors.
  Head(const Scope& scope, const Config& config, const Transformer& decoder, std::int64_t classes);

  Tensor operator()(Pass& pass, const Tensor& x) const;

private:
  ParameterId embedding_;
  std::optional<Linear> own_;
  std::optional<ParameterId> bias_; // the bias of tied embeddings
};

} // namespace heed::HEED_REAL
