// The common parts of the recurrent models: a recurrent encoder, and the options that only Transformer blocks use.
#pragma once

#include "experiments/models/model.hpp"
#include "layers/embedding.hpp"
#include "layers/recurrent/recurrent.hpp"

#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// The options that only Transformer blocks use.
inline std::vector<std::string> options_of_blocks() {
  return {"model.layers",
          "model.heads",
          "model.embedding_scale",
          "model.embedding_norm",
          "model.registers",
          "model.scaled_init",
          "model.shared_layers",
          "position",
          "block",
          "attention.causal",
          "attention.prefix",
          "attention.window",
          "attention.dilation",
          "attention.head_width",
          "attention.projection",
          "attention.qkv_bias",
          "attention.output_bias",
          "attention.key_value_heads",
          "attention.value_width",
          "attention.cosine.shared",
          "attention.score_mod",
          "attention.mask_mod",
          "model.segment_end",
          "init.position",
          "init.qkv",
          options_of_parts};
}

/// Recurrent layers over the embedded input tokens, in one direction, or in both directions with half the width each.
/// The states have model.width in both cases. The modules are named `embedding` and `encoder`.
struct RecurrentEncoder {
  Embedding embedding;
  Recurrent layers;
  bool both_directions;
  double embedding_dropout, dropout;

  /// Throws heed::Failed if both directions would need half of an odd width.
  RecurrentEncoder(const Scope& scope, const Config& config, const TaskSizes& shape, bool both_directions);

  struct Result {
    Tensor states;        ///< [rows, length, width]
    RecurrentStates last; ///< per layer, [rows, width], with the directions concatenated
  };
  Result operator()(Pass& pass, const Batch& batch) const;
};

} // namespace heed::HEED_REAL
