// A stack of Transformer blocks with position embeddings and a final norm. Its input is any sequence of vectors.
#pragma once

#include "autograd/recompute.hpp"
#include "experiments/models/model.hpp"
#include "layers/block.hpp"
#include "layers/position/position.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace heed::HEED_REAL {

/// Position embeddings, blocks, and a final norm. Registers, if there are any, precede each sequence in the blocks
/// (Darcet et al. 2023, arXiv 2309.16588). The final norm exists with norm = "pre", "sandwich" or "output", because the
/// sum after the last block is not normalised there.
struct BlockStack {
  struct Sizes {
    std::int64_t longest = 0;      ///< maximum sequence length
    std::int64_t trained = 0;      ///< maximum sequence length in training; 0: `longest`
    std::int64_t memory_width = 0; ///< width of the encoder output, for cross attention; 0: none
    std::int64_t longest_memory = 0;
    std::int64_t trained_memory = 0; ///< maximum length of the encoder output in training; 0: `longest_memory`
    std::int64_t patches_in_row = 0; ///< the number of patches in a row of an image; 0: there are no patches
  };

  PositionalEmbedding position;         ///< named `position`
  std::unique_ptr<Norm> embedding_norm; ///< named `embedding_norm`; null: none
  std::optional<ParameterId> registers; ///< [model.registers, width()], named `registers`; empty: none
  double dropout;                       ///< dropout rate of the input of the first block
  std::vector<Block> blocks;        ///< named `blocks.0` etc.; with shared_layers, all use the first one's parameters
  std::unique_ptr<Norm> final_norm; ///< named `final_norm`; null: none

  BlockStack(const Scope& scope, const Config& config, const Sizes& sizes);

  /// Maps x [B, T, model.width] to the last block's output [B, T, width()]. `mask` has padding and segments, if there
  /// are any.
  Tensor operator()(Pass& pass, const Tensor& x, const Mask& mask) const;

  /// Applies call(block, x, first_values) for each block, where x is the output of the block before, and first_values
  /// the place for the values of the first block (Block). If the tape does not record and the pass is not observed,
  /// only one block's intermediate results are in memory at a time.
  template <class Call> Tensor through(Pass& pass, Tensor x, const Call& call) const {
    Tensor first_values;
    if (pass.tape().recording() || pass.observed()) {
      for (const Block& block : blocks) x = call(block, x, &first_values);
      return x;
    }
    if (const std::int64_t stored = blocks.empty() ? 0 : blocks.front().stored_values())
      first_values = pass.tape().make({x.shape[0], x.shape[1], stored});
    Tensor results[2]; // used alternately, because each is the next block's input
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      Tensor& y = results[i % 2];
      if (!y.tape) y = pass.tape().make(x.shape);
      const Tape::ArenaScope transient(pass.tape());
      put_into(y, call(blocks[i], x, &first_values));
      x = y;
    }
    return x;
  }

  /// The input of the first block, [B, T, width()]. The first vector is at position `first`; if this is 0, the
  /// registers precede it.
  Tensor enter(Pass& pass, const Tensor& x, std::int64_t first) const;
  /// Drops the registers from the last block's output, and applies the final norm, if there is one. `first`: as in
  /// `enter`.
  Tensor finish(Pass& pass, const Tensor& x, std::int64_t first) const;

  std::int64_t width() const { return position.output_width(); }
};

/// The configuration of each stack of an encoder-decoder: the encoder is bidirectional, and the decoder causal.
Config encoder_config(const Config& config);
Config decoder_config(const Config& config);

/// The configuration's first block, reduced to its mixer: without feed-forward network, norms and residual connections.
Config mixer_of_first_block(Config config);

} // namespace heed::HEED_REAL
