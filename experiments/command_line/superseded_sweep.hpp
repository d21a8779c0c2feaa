// What became of the sweep that an edited file's takes the place of.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/sweep/plan.hpp"

#include <filesystem>
#include <optional>

namespace heed {

/// A sweep of the same name that this one takes the place of, since the file or the overrides have changed.
struct OlderSweep {
  std::filesystem::path folder;
  Plan plan;
};

/// The latest such sweep in the output folder; none where the plan is there already, since it then goes on.
std::optional<OlderSweep> find_older_sweep(const Plan& plan, const std::filesystem::path& out);

/// Says how far it came, and how many of its runs are the new one's, too.
void tell_of_older_sweep(const OlderSweep& older, const Plan& plan, const std::filesystem::path& out, Console& console);

} // namespace heed
