// What `heed run` says while a sweep runs: to people, or to programs as lines of JSON.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/run_sweep.hpp"

#include <filesystem>
#include <memory>

namespace heed {

class SlurmLauncher;

/// The receiver of a sweep's events. Make it before the plan is frozen, because it searches for an older sweep that
/// this one supersedes.
/// @param as_json  whether it writes a line of JSON for each event (RunLine) in place of a display
/// @param slurm    the launcher of a sweep in Slurm; null for a local sweep
std::unique_ptr<SweepEvents> sweep_events(bool as_json, const Preparation& prepared, const std::filesystem::path& out,
                                          const SlurmLauncher* slurm, Console& console);

} // namespace heed
