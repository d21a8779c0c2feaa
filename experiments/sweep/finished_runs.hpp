// Which of a sweep's runs came to their end, so that a report can tell a run that was removed from one that is to come.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <filesystem>
#include <set>
#include <string>

namespace heed {

/// The IDs in FOLDER/finished.txt, a line for each; none where there is no such file, or it can't be read.
std::set<std::string> recorded_as_finished(const std::filesystem::path& folder);

/// Adds those of the plan's runs that are finished now to FOLDER/finished.txt. Writes nothing where all of them stand
/// there. Throws heed::Failed.
void record_finished(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder);

} // namespace heed
