// Checks a prepared sweep for settings that are valid but pointless: refuses impossible thresholds and reports settings
// without effect.
#pragma once

#include "experiments/sweep/preparation.hpp"

#include <string>
#include <vector>

namespace heed {

/// Refuses settings that no result can satisfy: a margin as wide as the metric's range, and a threshold of [report]
/// learned or a target of steps_to outside the range. Only for new plans: a plan that was frozen earlier can still run.
/// Throws heed::Refused.
void refuse_unreachable(const Preparation& prepared);

/// The first note names models that can see their prediction targets. Further notes name settings without effect: a
/// schedule after a warm-up that lasts for the whole run, entries of `exclude` and `require` that match no combination,
/// an option that is given twice.
std::vector<std::string> notes_of(const Preparation& prepared);

} // namespace heed
