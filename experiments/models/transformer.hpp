// What decoder and encoder share: token embeddings, positions, blocks, and the norm that ends them.
#pragma once

#include "experiments/models/model.hpp"
#include "layers/block.hpp"
#include "layers/embedding.hpp"
#include "layers/position/position.hpp"

#include <optional>
#include <vector>

namespace heed::HEED_REAL {

/// A stack of blocks over embedded tokens. With norm = "pre" a norm ends it, since the last block's sum has none.
struct Transformer {
  Embedding embedding;            ///< named `embedding`
  PositionalEmbedding position;   ///< named `position`
  std::vector<Block> blocks;      ///< named `blocks.0` and so on
  std::optional<Norm> final_norm; ///< named `final_norm`
  Real embedding_factor;          ///< what token embeddings are multiplied with
  double dropout;

  Transformer(const Scope& scope, const Config& config, const TaskShape& shape);

  /// The last block's vectors: [rows, length, width()].
  Tensor operator()(Pass& pass, const Batch& batch) const;

  std::int64_t width() const { return position.output_width(); }
};

} // namespace heed::HEED_REAL
