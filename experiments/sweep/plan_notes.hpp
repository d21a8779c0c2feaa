// What is allowed in a configuration, and doesn't do what it looks like.
#pragma once

#include "experiments/sweep/preparation.hpp"

#include <string>
#include <vector>

namespace heed {

/// Refuses what no outcome can meet: a margin as wide as the metric's range, a threshold of [report] learned or a target
/// of steps_to outside of it. For new plans only: one that was frozen before runs on. Throws heed::Refused.
void refuse_unreachable(const Preparation& prepared);

/// First, a sentence for models that see what they are to predict. Then one for each option without effect: a schedule
/// after a warm-up that lasts the whole run, entries of `exclude` and `require` that match no combination, an option that
/// is given twice.
std::vector<std::string> notes_of(const Preparation& prepared);

} // namespace heed
