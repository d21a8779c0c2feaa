// Transformer blocks over vectors, whatever these are made from.
#pragma once

#include "autograd/recompute.hpp"
#include "experiments/models/model.hpp"
#include "layers/block.hpp"
#include "layers/position/position.hpp"

#include <optional>
#include <vector>

namespace heed::HEED_REAL {

/// Positions, blocks, and the norm that ends them. With norm = "pre" or "sandwich" there is one, since the last block's sum has none.
struct BlockStack {
  struct Shape {
    std::int64_t longest = 0;      ///< sequence that there will ever be
    std::int64_t memory_width = 0; ///< of what the blocks attend to besides themselves; 0: nothing
    std::int64_t longest_memory = 0;
  };

  PositionalEmbedding position; ///< named `position`
  double dropout;               ///< of what goes into the first block
  std::vector<Block> blocks;    ///< named `blocks.0` and so on; with shared_layers, all have the first one's parameters
  std::optional<Norm> final_norm; ///< named `final_norm`

  BlockStack(const Scope& scope, const Config& config, const Shape& shape);

  /// x [B, T, model.width] to the last block's vectors, [B, T, width()]. lengths: [B]; null: no padding.
  Tensor operator()(Pass& pass, const Tensor& x, const std::int32_t* lengths) const;

  /// call(block, x) of each block, x being the result of the one before. Where nothing is recorded and nobody looks on,
  /// there is one block's memory at a time.
  template <class Call> Tensor through(Pass& pass, Tensor x, const Call& call) const {
    if (pass.tape().recording() || pass.observed()) {
      for (const Block& block : blocks) x = call(block, x);
      return x;
    }
    Tensor results[2]; // in turns, since each is what the next block reads
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Tensor& y = results[i % 2];
      if (!y.tape) y = pass.tape().make(x.shape);
      const Tape::ArenaScope transient(pass.tape());
      put_into(y, call(blocks[i], x));
      x = y;
    }
    return x;
  }

  /// What goes into the first block, [B, T, width()]; the first vector stands at position `first`.
  Tensor enter(Pass& pass, const Tensor& x, std::int64_t first) const {
    return pass.dropout(position(pass, x, first), dropout);
  }
  /// What comes of the last block's result.
  Tensor finish(Pass& pass, const Tensor& x) const { return final_norm ? (*final_norm)(pass, x) : x; }

  std::int64_t width() const { return position.output_width(); }
};

} // namespace heed::HEED_REAL
