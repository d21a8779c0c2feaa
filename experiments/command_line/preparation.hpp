// Loads a configuration from a file and overrides, makes its plan and checks it, for several commands. The start of a
// sweep: which earlier sweep it supersedes, its instruction set, and the agreement of the processes of mpirun on
// whether to begin, so that an error in one process's command line does not leave the others waiting.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// The file's settings with the overrides. Throws heed::Refused.
Settings load_settings(const std::filesystem::path& file, const std::vector<std::string>& overrides);

/// The checked plan of these settings. Throws heed::Refused.
/// @param out  the output folder, with the runs of [train] start
Preparation prepare(const std::filesystem::path& file, const std::vector<std::string>& overrides, Tasks& tasks,
                    const std::filesystem::path& out);
/// The same for settings that no file has.
/// @param name   the plan's name, if the settings have none
/// @param where  what gives the overrides, for messages
Preparation prepare(Settings settings, const std::string& name, const std::vector<std::string>& overrides,
                    const std::string& where, Tasks& tasks, const std::filesystem::path& out);

/// The facts of a report that depend on an arm's configuration and data. Throws heed::Refused if the data is not
/// usable.
ArmFacts facts_of(const Config& config, Tasks& tasks);

/// Refuses a plan that cannot give an answer (`refuse_unreachable`), unless it was already frozen in the folder `out`.
/// Then prints the settings without effect (`notes_of`).
void check_sense(const Preparation& prepared, const std::filesystem::path& out, Console& console);

/// "66 runs: 11 arms x 6 seeds".
std::string size_in_words(const Plan& plan);

/// Command-line arguments, quoted for a shell.
std::string shell_words(const std::vector<std::string>& words);

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
