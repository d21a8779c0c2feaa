// Converts the variation of a plan to and from JSON, a member of plan.json.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <boost/json.hpp>
#include <functional>
#include <string>
#include <vector>

namespace heed {

/// Reads the member "runs".
using ReadRuns = std::function<std::vector<PlannedRun>(const boost::json::object&)>;

/// Reads the runs that measure where variance comes from, and checks that each belongs to a fixing. Throws
/// json_fields::Wrong.
/// @param plan  with its arms and runs
Variation read_variation(const boost::json::object& object, const Plan& plan, const ReadRuns& read_runs);

/// @param runs  Variation::runs as JSON
std::string variation_json(const Variation& variation, const std::string& runs);

} // namespace heed
