// What attention heads make of an input, as plain numbers with the tokens that they belong to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// An input to look at.
struct AttentionRequest {
  std::string input;                 ///< text; of images "row N", of the validation split
  std::optional<std::string> output; ///< sequence_to_sequence: what the decoder reads; else the model's own
};

/// What one head makes of one input.
struct AttentionMap {
  std::string module; ///< "blocks.0.attention"
  std::int64_t head = 0;
  std::optional<double> entropy;          ///< nats, the mean over the queries
  std::optional<double> distance;         ///< positions; none where queries and keys are of unlike sequences
  std::vector<std::string> queries, keys; ///< tokens
  std::vector<double> weights;            ///< [queries, keys]
};

/// What all heads make of one input.
struct AttentionExample {
  std::string input;
  std::optional<std::string> output; ///< sequence_to_sequence: what the decoder read
  bool forced = false;               ///< the output was given; else the model found it, greedily
  std::optional<std::int64_t> step;  ///< of the checkpoint; none where it is not known
  std::int64_t average = 1;          ///< checkpoints whose mean the weights are of
  std::vector<AttentionMap> heads;   ///< by module in the order of their calls, then by head
};

} // namespace heed
