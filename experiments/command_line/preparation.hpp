// What several commands need before anything runs: a configuration from a file and overrides, and its plan, checked.
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

/// Their plan, checked. Throws heed::Refused.
Preparation prepare(const std::filesystem::path& file, const std::vector<std::string>& overrides, Tasks& tasks);

/// What a report says of an arm beside its runs. Throws heed::Refused where the data is not usable.
ArmFacts facts_of(const Config& config, Tasks& tasks);

/// Refuses a plan that can't answer (`refuse_unreachable`), unless it was frozen in the folder `out` before; then says
/// what in it does nothing (`notes_of`).
void check_sense(const Preparation& prepared, const std::filesystem::path& out, Console& console);

/// "66 runs: 11 arms x 6 seeds".
std::string size_in_words(const Plan& plan);

/// Words of a command line as a shell would take them.
std::string shell_words(const std::vector<std::string>& words);

} // namespace heed
