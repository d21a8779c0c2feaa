// Plain structs for the attention weights of all heads on one input, with the tokens of queries and keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// An input to compute attention weights for.
struct AttentionRequest {
  std::string input;                 ///< text; for images "row N" of the validation split
  std::optional<std::string> output; ///< sequence_to_sequence: the decoder's input; if none, the model decodes it
};

/// The attention weights of one head on one input.
struct AttentionMap {
  std::string module; ///< "blocks.0.attention"
  std::int64_t head = 0;
  std::optional<double> entropy;          ///< in nats, mean over the queries
  std::optional<double> distance;         ///< in positions; none if queries and keys belong to different sequences
  std::vector<std::string> queries, keys; ///< tokens
  std::vector<double> weights;            ///< [queries, keys]
};

/// The attention weights of all heads on one input.
struct AttentionExample {
  std::string input;
  std::optional<std::string> output; ///< sequence_to_sequence: the decoder's input
  bool forced = false;               ///< true: the output was given; false: the model found it by greedy decoding
  std::optional<std::int64_t> step;  ///< the checkpoint's step; none if unknown
  std::int64_t average = 1;          ///< number of checkpoints whose weights were averaged
  std::vector<AttentionMap> heads;   ///< sorted by module (in the order of the calls), then by head
};

} // namespace heed
