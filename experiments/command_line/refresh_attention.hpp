// The attention weights that a report shows, made where they are missing or stale.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace heed {

/// By a run's ID: why its attention weights are not, or not all, what they should be.
using AttentionProblems = std::map<std::string, std::string>;

/// Goes through each arm's run of the plan's first seed, where that is finished. Its attention.json gets an example for
/// each of [report] attend, of the newest checkpoint; examples of other checkpoints are made again, whoever asked for
/// them, and stay as they are where they can't be. One whose step isn't known stays as it is. Throws nothing for what a
/// run lacks.
AttentionProblems keep_attention_up(const Plan& plan, const std::filesystem::path& out);

} // namespace heed
