// Options in which a model is another function of the weights that it starts from.
#pragma once

#include "experiments/config/config.hpp"

#include <string>
#include <vector>

namespace heed {

/// "attention.window 0 -> 8": the options of the model that differ from those of its start and change what the same
/// weights compute. Options of training only (dropout) and of initial values are not among them, nor are options that
/// have no effect in the new model. "(none)": the option has no effect in the start.
std::vector<std::string> start_changes(const Config& start, const Config& config);

/// Why these weights cannot be meant for the model, although their shapes fit: other heads, or other pairs of rotary
/// features. Empty if they may be.
std::string why_not_meant(const Config& start, const Config& config);

} // namespace heed
