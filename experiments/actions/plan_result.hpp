// A plan with its estimate as data, and as a preregistration.
#pragma once

#include "experiments/actions/plan_estimate.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/variation.hpp"

#include <optional>
#include <string>

namespace heed {

/// tuning, replicate or variation.
std::string stage_of(const EstimatedRun& run, const VariationLabels& variation);

/// @param effect  in standard deviations of the differences: the only one in the list of effects
PlanResult plan_result(const Preparation& prepared, const Estimate& e, std::optional<double> effect);

/// The content of `plan.json` plus the current time. It is stored as a preregistration.
std::string registration(const Plan& plan, const Estimate& e);

} // namespace heed
