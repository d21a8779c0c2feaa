// Chooses the instruction set of a sweep that starts, and what the user is told about it.
#pragma once

#include "experiments/sweep/preparation.hpp"

#include <string>

namespace heed {

/// The instruction set on which all machines compute a sweep, so that its runs are bit-identical on every machine.
/// Empty if the build supports only one instruction set.
std::string instruction_set_to_pin(bool on_other_machines);

/// What the user should know about the sweep's instruction set. Empty if there is nothing to say.
/// @param pinned  the plan's instruction set; empty if the plan has none
std::string instruction_set_in_words(const Preparation& prepared, const std::string& pinned, bool on_other_machines);

} // namespace heed
