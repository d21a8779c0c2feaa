// Checks a prepared sweep: refuses thresholds and interim looks that no result can reach, and reports settings without
// effect.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/tasks/task.hpp"

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

/// Checks that the last look includes all seeds, and that each look can find a difference. Throws heed::Refused with
/// the place in the file.
void check_looks(const LookSpec& spec, const Plan& plan);

/// The smallest p that `seeds` seeds of each arm can give; for unpaired runs after Holm's correction.
double smallest_p_of(const Plan& plan, std::size_t seeds);

/// The reason why `arm` cannot be compared with `reference` by the metric, as half a sentence; empty if it can.
std::string why_not_comparable(const Config& reference, const Task& reference_task, TaskFormat reference_form,
                               const Config& arm, const Task& arm_task, TaskFormat arm_form, const std::string& metric);

} // namespace heed
