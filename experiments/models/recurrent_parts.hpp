// What the recurrent models share.
#pragma once

#include "experiments/models/model.hpp"
#include "layers/embedding.hpp"
#include "layers/recurrent/recurrent.hpp"

#include <string>
#include <vector>

namespace heed::HEED_REAL {

/// The options that only Transformer blocks have a use for.
inline std::vector<std::string> options_of_blocks() {
  return {"model.layers",
          "model.heads",
          "model.embedding_scale",
          "model.scaled_init",
          "model.shared_layers",
          "position",
          "block",
          "attention.causal",
          "attention.prefix",
          "attention.window",
          "attention.dilation",
          "attention.head_width",
          "attention.qkv_bias",
          "attention.output_bias",
          "attention.key_value_heads",
          "attention.value_width",
          "attention.query_key_norm",
          "attention.talking_heads",
          "attention.score_mod",
          "attention.mask_mod",
          "init.position",
          "init.qkv"};
}

/// Recurrent layers over the embedded tokens of the input, in one direction or, with half the width each, in both:
/// states of model.width either way. Named `embedding` and `encoder`.
struct RecurrentEncoder {
  Embedding embedding;
  Recurrent layers;
  bool both_directions;
  double embedding_dropout, dropout;

  /// Throws heed::Failed where an odd width would have to be halved.
  RecurrentEncoder(const Scope& scope, const Config& config, const TaskShape& shape, bool both_directions);

  struct Result {
    Tensor states;        ///< [rows, length, width]
    RecurrentStates last; ///< of each layer, [rows, width] with the directions side by side
  };
  Result operator()(Pass& pass, const Batch& batch) const;
};

} // namespace heed::HEED_REAL
