// Attention weights that were kept beside a run, in its folder's attention.json:
//
//   {"examples": [{"input": "text", "heads": [{"module": "blocks.0.attention", "head": 0, "entropy": 1.38,
//     "distance": 2.1, "queries": ["a", ...], "keys": ["a", ...], "weights": [[one a key], ... one a query]}]}]}
#pragma once

#include "experiments/runs/files.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What one head makes of one input.
struct AttentionMap {
  std::string module;                       ///< "blocks.0.attention"
  std::int64_t head = 0;
  std::optional<double> entropy;            ///< nats, the mean over the queries
  std::optional<double> distance;           ///< positions; none where queries and keys are of unlike sequences
  std::vector<std::string> queries, keys;   ///< tokens
  std::vector<double> weights;              ///< [queries, keys]
};

struct AttentionExample {
  std::string input;
  std::vector<AttentionMap> heads;
};

/// The content of an attention.json; the error says what is wrong and where, and does not name the file.
Parsed<std::vector<AttentionExample>> attention_from_json(std::string_view bytes);

} // namespace heed
