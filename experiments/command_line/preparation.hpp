// Loads a configuration from a file and overrides, makes its plan and checks it, for several commands.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/sweep/preparation.hpp"

#include <filesystem>
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

} // namespace heed
