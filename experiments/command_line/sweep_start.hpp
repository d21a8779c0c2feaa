// The start of a sweep: which earlier sweep it supersedes, its instruction set, and the agreement of the processes of
// mpirun on whether to begin, so that an error in one process's command line does not leave the others waiting.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"

#include <filesystem>
#include <optional>
#include <string>

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

/// The instruction set on which all machines compute a sweep, so that its runs are bit-identical on every machine.
/// Empty if the build supports only one instruction set.
std::string instruction_set_to_pin(bool on_other_machines);

/// What the user should know about the sweep's instruction set. Empty if there is nothing to say.
/// @param pinned  the plan's instruction set; empty if the plan has none
std::string instruction_set_in_words(const Preparation& prepared, const std::string& pinned, bool on_other_machines);

/// The result of checking a process's command line.
struct ProcessGroupWord {
  bool runs = false;   ///< the command is a valid `heed run`
  std::string problem; ///< the error; empty if there is none, or if help is requested
};

/// Exchanges this result between all processes, once, before anything else. If all of them run, they continue.
/// Otherwise MPI is finalized, and all processes throw heed::Refused with the first error, if one has an error or only
/// some run. Also throws heed::Refused if no MPI process group can be formed (engines/mpi.hpp).
void agree_to_begin(const ProcessGroupWord& own);
/// Whether this process has called agree_to_begin successfully.
bool has_agreed_to_begin();

} // namespace heed
