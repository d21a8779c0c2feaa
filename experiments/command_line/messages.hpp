// Messages about what commands find beside their results: damaged checkpoints, excluded folders, settings without
// effect.
#pragma once

#include "experiments/actions/trained_run.hpp"
#include "experiments/command_line/console.hpp"
#include "experiments/index/run_index.hpp"
#include "experiments/sweep/preparation.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heed {

/// The trained run of this path or unique prefix of an ID within `out`. Damaged checkpoints are named on the console.
/// Throws heed::Refused if there is no such run, and as trained_run of a folder does.
TrainedRun trained_run(const std::string& out, const std::string& run, std::int64_t average, Console& console);

/// Prints the excluded folders (left_out_in_words).
void say_left_out(const std::vector<LeftOut>& left_out, const RunIndex& index, Console& console);

/// Refuses a plan that cannot give an answer, and prints the settings without effect (checked_notes).
void check_sense(const Preparation& prepared, const std::filesystem::path& out, Console& console);

} // namespace heed
