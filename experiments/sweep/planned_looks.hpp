// Checks the planned interim looks of a sweep.
#pragma once

#include "experiments/config/settings.hpp"
#include "experiments/sweep/plan.hpp"

namespace heed {

/// Checks that the last look includes all seeds, and that each look can find a difference. Throws heed::Refused with
/// the place in the file.
void check_looks(const LookSpec& spec, const Plan& plan);

/// The smallest p that `seeds` seeds of each arm can give; for unpaired runs after Holm's correction.
double smallest_p_of(const Plan& plan, std::size_t seeds);

} // namespace heed
