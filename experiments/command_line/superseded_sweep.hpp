// Finds and reports the earlier sweep that a new sweep of an edited file supersedes.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/sweep/plan.hpp"

#include <filesystem>
#include <optional>

namespace heed {

/// An earlier sweep of the same name, superseded because the file or the overrides have changed.
struct SupersededSweep {
  std::filesystem::path folder;
  Plan plan;
};

/// The most recent such sweep in the output folder. Empty if the plan is already there, because that sweep is then
/// resumed.
std::optional<SupersededSweep> find_superseded_sweep(const Plan& plan, const std::filesystem::path& out);

/// Prints how much of it has finished, and how many of its runs the new sweep shares.
void report_superseded_sweep(const SupersededSweep& older, const Plan& plan, const std::filesystem::path& out,
                             Console& console);

} // namespace heed
