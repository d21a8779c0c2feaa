// Reads and writes a run's attention.json, the attention weights of example inputs:
//
//   {"examples": [{"input": "text", "heads": [{"module": "blocks.0.attention", "head": 0, "entropy": 1.38,
//     "distance": 2.1, "queries": ["a", ...], "keys": ["a", ...], "weights": [[one per key], ... one per query]}],
//     "output": "text", "forced": false, "step": 500, "average": 1}]}
//
// `output`, `forced`, `step` and `average` are optional (see AttentionExample).
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/training/attention_example.hpp"

#include <boost/json/array.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Parses an attention.json. The error says what is wrong and where; it does not contain the file's name.
Parsed<std::vector<AttentionExample>> attention_from_json(std::string_view bytes);

/// The "examples" of an attention.json, with numbers not rounded.
boost::json::array attention_array(const std::vector<AttentionExample>& examples);

/// A run's attention.json; an empty list if there is none. The error contains the file's name.
Parsed<std::vector<AttentionExample>> read_attention(const RunFolder& run);

/// Writes a run's attention.json, with weights rounded to five significant digits, which is enough for plots. Throws
/// heed::Failed.
void write_attention(const RunFolder& run, const std::vector<AttentionExample>& examples);

/// Reads a run's attention.json, calls `change` on its examples and writes them, under a lock (attention.claim). A
/// damaged file is replaced: `change` gets an empty list, and the function returns the error of `read_attention`.
/// Throws heed::Failed.
std::string update_attention(const RunFolder& run, const std::function<void(std::vector<AttentionExample>&)>& change);

/// Merges fresh examples into `kept`: each replaces the example with the same input, or is appended.
std::vector<AttentionExample> merged(std::vector<AttentionExample> kept, const std::vector<AttentionExample>& fresh);

} // namespace heed
