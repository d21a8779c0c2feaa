// Draws attention weights as text heatmaps on a terminal.
#pragma once

#include "experiments/report/style.hpp"
#include "experiments/training/attention_example.hpp"

#include <string>

namespace heed {

/// The input (and output), and one line for each head: entropy, distance and the key with the largest weight. With at
/// most 24 queries and 24 keys, each head's heatmap follows: one line for each query, two to five columns for each key.
std::string attention_text(const AttentionExample& example, const Style& style);

} // namespace heed
