// InspectionParts at a sweep that were planned.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/sweep/plan.hpp"

namespace heed {

/// That looks end with all seeds, and that each of them could find something. Throws heed::Refused with the place.
void check_looks(const LookSpec& spec, const Plan& plan);

} // namespace heed
