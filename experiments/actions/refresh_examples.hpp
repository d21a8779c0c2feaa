// Evaluates each validation example of a sweep's runs, if the report wants them and they are missing or outdated.
#pragma once

#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace heed {

/// By run ID: why the scores of its examples are missing or outdated.
using ExampleProblems = std::map<std::string, std::string>;

/// Updates the examples.json of each finished run of the plan, with the newest checkpoint, if the plan wants examples
/// (Plan::examples). If a run lacks something, this is returned as a problem and nothing is thrown. The caller can stop
/// it (PollScope).
ExampleProblems refresh_examples(const Plan& plan, const std::filesystem::path& out, Tasks& tasks);

} // namespace heed
