// Transformer blocks over vectors, whatever these are made from.
#pragma once

#include "experiments/models/model.hpp"
#include "layers/block.hpp"
#include "layers/position/position.hpp"

#include <optional>
#include <vector>

namespace heed::HEED_REAL {

/// Positions, blocks, and the norm that ends them. With norm = "pre" there is one, since the last block's sum has none.
struct BlockStack {
  PositionalEmbedding position;   ///< named `position`
  double dropout;                 ///< of what goes into the first block
  std::vector<Block> blocks;      ///< named `blocks.0` and so on
  std::optional<Norm> final_norm; ///< named `final_norm`

  /// longest: sequence that there will ever be.
  BlockStack(const Scope& scope, const Config& config, std::int64_t longest);

  /// x [B, T, model.width] to the last block's vectors, [B, T, width()]. lengths: [B]; null: no padding.
  Tensor operator()(Pass& pass, const Tensor& x, const std::int32_t* lengths) const;

  std::int64_t width() const { return position.output_width(); }
};

} // namespace heed::HEED_REAL
