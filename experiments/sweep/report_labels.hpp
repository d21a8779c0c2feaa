// [report.label]: what reports call metrics and arms.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/sweep/plan.hpp"

#include <map>
#include <string>

namespace heed {

/// The labels by the name of a metric or an arm. Names that a label can have: the metrics that the report compares,
/// METRIC of steps_to(METRIC, VALUE), all metrics if the plan has one arm, the arms (in groups, by the name within the
/// group), and "reference". Throws heed::Refused, with the place in the file, for any other name, and for a label that
/// two arms or two metrics would share.
/// @param reference  the configuration of the plan's first arm
std::map<std::string, std::string> checked_labels(const Settings& settings, const Config& reference, const Plan& plan);

} // namespace heed
