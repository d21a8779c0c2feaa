// Attention weights that were kept beside a run, in its folder's attention.json:
//
//   {"examples": [{"input": "text", "heads": [{"module": "blocks.0.attention", "head": 0, "entropy": 1.38,
//     "distance": 2.1, "queries": ["a", ...], "keys": ["a", ...], "weights": [[one a key], ... one a query]}],
//     "output": "text", "forced": false, "step": 500, "average": 1}]}
//
// `output`, `forced`, `step` and `average` need not be there (see AttentionExample).
#pragma once

#include "experiments/runs/run_folder.hpp"
#include "experiments/training/attention_example.hpp"

#include <boost/json/array.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The content of an attention.json; the error says what is wrong and where, and does not name the file.
Parsed<std::vector<AttentionExample>> attention_from_json(std::string_view bytes);

/// The "examples" of an attention.json, numbers in full.
boost::json::array attention_array(const std::vector<AttentionExample>& examples);

/// What a run's attention.json holds: nothing where it has none; the error names the file.
Parsed<std::vector<AttentionExample>> read_attention(const RunFolder& run);

/// Writes a run's attention.json. Weights keep five significant digits, which a picture does not exhaust. Throws
/// heed::Failed.
void write_attention(const RunFolder& run, const std::vector<AttentionExample>& examples);

/// Has `change` change what a run's attention.json holds, and writes it, while nobody else does (attention.claim). One
/// that is damaged is written anew from nothing: then returns what is wrong with it, as `read_attention` says it.
/// Throws heed::Failed.
std::string update_attention(const RunFolder& run, const std::function<void(std::vector<AttentionExample>&)>& change);

/// `kept` with the fresh examples, each in the place of the one that has its input, or behind them.
std::vector<AttentionExample> merged(std::vector<AttentionExample> kept, const std::vector<AttentionExample>& fresh);

} // namespace heed
