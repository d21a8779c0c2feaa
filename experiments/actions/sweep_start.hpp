// The start of a sweep: whether its plan can give an answer, which earlier sweep it supersedes, and the instruction set
// of its runs.
#pragma once

#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// The notes on settings without effect (`notes_of`). Throws heed::Refused for a plan that cannot give an answer
/// (`refuse_unreachable`), unless it was already frozen in the folder `out`.
std::vector<std::string> checked_notes(const Preparation& prepared, const std::filesystem::path& out);

/// An earlier sweep of the same name, superseded because the file or the overrides have changed.
struct SupersededSweep {
  std::filesystem::path folder;
  Plan plan;
};

/// The most recent such sweep in the output folder. Empty if the plan is already there, because that sweep is then
/// resumed.
std::optional<SupersededSweep> find_superseded_sweep(const Plan& plan, const std::filesystem::path& out);

/// How much of it has finished, and how many of its runs the new sweep shares: two sentences.
std::vector<std::string> superseded_in_words(const SupersededSweep& older, const Plan& plan,
                                             const std::filesystem::path& out);

/// The instruction set on which all machines compute a sweep, so that its runs are bit-identical on every machine.
/// Empty if the build supports only one instruction set.
std::string instruction_set_to_pin(bool on_other_machines);

/// What the user should know about the sweep's instruction set. Empty if there is nothing to say.
/// @param pinned  the plan's instruction set; empty if the plan has none
std::string instruction_set_in_words(const Preparation& prepared, const std::string& pinned, bool on_other_machines);

} // namespace heed
