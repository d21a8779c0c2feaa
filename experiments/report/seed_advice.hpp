// How many seeds a plan should have.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <optional>
#include <string>

namespace heed {

/// What `heed plan` says of a sweep's seeds, in lines of some 100 columns: whether they can reach 5 % at all, and how
/// many seeds effects of 0.5, 1, 1.5 and 2 standard deviations of the differences (d_z) take to be found in four of
/// five sweeps, or only `effect`. Empty where there is nothing to compare.
std::string seed_advice(const Plan& plan, std::optional<double> effect = std::nullopt);

} // namespace heed
