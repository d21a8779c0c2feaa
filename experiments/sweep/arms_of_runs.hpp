// Finds the arm of each run of an output folder, for readers: runs themselves do not know sweeps.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heed {

/// The labels of the arms by run ID, and why plans could not be read.
struct ArmsOfRuns {
  std::map<std::string, std::string> labels;
  std::vector<std::string> problems; ///< one message for each unreadable plan
};

/// Reads all plans in OUT/sweeps. If several sweeps contain a run, the most recent sweep decides. Trials of a tuned arm
/// have the arm's label. A plan of a single arm gives no label. Unreadable plans are skipped.
ArmsOfRuns arms_of_runs(const std::filesystem::path& out);

} // namespace heed
