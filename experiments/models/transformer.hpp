// What the Transformers share: token embeddings, positions, blocks, and the norm that ends them.
#pragma once

#include "experiments/models/model.hpp"
#include "layers/block.hpp"
#include "layers/embedding.hpp"
#include "layers/position/position.hpp"

#include <optional>
#include <span>
#include <vector>

namespace heed::HEED_REAL {

/// Rows of tokens, padded to one length.
struct TokenRows {
  const std::int32_t* tokens;                ///< [rows, length]
  std::int64_t rows, length;
  const std::int32_t* lengths = nullptr;     ///< [rows]; null: no padding
};

/// What a decoder's blocks attend to besides themselves.
struct Memory {
  Tensor vectors;                            ///< [rows, length, width]
  const std::int32_t* lengths = nullptr;     ///< [rows]; null: no padding
};

/// What a stack of blocks is made for.
struct StackShape {
  std::int64_t vocabulary = 0;
  std::int64_t longest = 0;                  ///< row of tokens
  std::int64_t memory_width = 0;             ///< 0: there is no memory
  std::int64_t longest_memory = 0;
  std::optional<Embedding> embedding{};      ///< another's, to be shared; else it gets its own
};

/// A stack of blocks over embedded tokens. With norm = "pre" a norm ends it, since the last block's sum has none.
struct Transformer {
  Embedding embedding;            ///< named `embedding`
  PositionalEmbedding position;   ///< named `position`
  std::vector<Block> blocks;      ///< named `blocks.0` and so on
  std::optional<Norm> final_norm; ///< named `final_norm`
  Real embedding_factor;          ///< what token embeddings are multiplied with
  double dropout;

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
  /// The next token of each row: [rows, 1, width()].
  Tensor step(Pass& pass, std::span<const std::int32_t> tokens, Past& past, const std::int32_t* memory_lengths) const;
  /// Does a step give what the whole row gives?
  bool serves_steps() const;

  std::int64_t width() const { return position.output_width(); }

private:
  Tensor embed(Pass& pass, const TokenRows& rows, std::int64_t first) const;
  Tensor finish(Pass& pass, const Tensor& x) const { return final_norm ? (*final_norm)(pass, x) : x; }
};

} // namespace heed::HEED_REAL
