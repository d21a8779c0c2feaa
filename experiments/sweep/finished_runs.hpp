// Records which runs of a sweep have finished, so that a report can distinguish a removed run from a future one.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <filesystem>
#include <set>
#include <string>

namespace heed {

/// The run IDs in FOLDER/finished.txt, one on each line; empty if there is no such file, or it cannot be read.
std::set<std::string> recorded_as_finished(const std::filesystem::path& folder);

/// Adds the plan's finished runs to FOLDER/finished.txt. Writes nothing if the file already contains all of them.
/// Throws heed::Failed.
void record_finished(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder);

} // namespace heed
