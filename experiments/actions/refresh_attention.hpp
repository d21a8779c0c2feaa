// Computes the attention weights that a report shows, if they are missing or outdated.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace heed {

/// By run ID: why its attention weights are missing, incomplete or outdated.
using AttentionProblems = std::map<std::string, std::string>;

/// For each arm, updates the finished run of the plan's first seed. Its attention.json gets an example for each of
/// [report] attend, computed with the newest checkpoint. Examples of older checkpoints are recomputed, also those that
/// other commands added; an example that cannot be recomputed is not changed, nor is one of unknown step. If a run
/// lacks something, this is returned as a problem and nothing is thrown.
AttentionProblems refresh_attention(const Plan& plan, const std::filesystem::path& out);

} // namespace heed
