// Attention weights on a terminal.
#pragma once

#include "experiments/report/style.hpp"
#include "experiments/training/attention_example.hpp"

#include <string>

namespace heed {

/// The input (and output), a line for each head with its entropy, its distance and the key that gets most, and, where
/// there are at most 24 queries and as many keys, each head's map in shades: a line for each query, two to five columns
/// for each key.
std::string attention_text(const AttentionExample& example, const Style& style);

} // namespace heed
