// What is allowed in a configuration, and doesn't do what it looks like.
#pragma once

#include "experiments/sweep/preparation.hpp"

#include <string>
#include <vector>

namespace heed {

/// Refuses what no outcome can meet: a margin as wide as the metric's range, a threshold of [report] learned or a target
/// of steps_to outside of it. For new plans only: one that was frozen before runs on. Throws heed::Refused.
void refuse_unreachable(const Preparation& prepared);

/// First, a sentence for models that see what they are to predict; then one for each option that does nothing here: one that is given twice, entries of `exclude` and `require` that
/// match no combination, a schedule behind a warm-up as long as the run.
std::vector<std::string> notes_of(const Preparation& prepared);

} // namespace heed
