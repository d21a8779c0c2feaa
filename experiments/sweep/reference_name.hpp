// What people call the reference: in reports, in `heed plan`, and while a sweep runs.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace heed {

/// The reference's values are part of its name up to this number of characters.
inline constexpr std::size_t longest_in_name = 40;

/// "position = none": the reference's values of the options that arms change, without those that define groups.
/// @param reference  the configuration of the plan's first arm
std::string reference_values(const Plan& plan, const Config& reference);

/// "reference (position = none)"; "no positions (reference)" with [sweep] reference = "no positions"; "reference" if
/// its values are too long.
std::string reference_name(const Plan& plan, const Config& reference);

/// The labels of all arms, in which the references have this name: "length = 64: reference (position = none)".
std::vector<std::string> named_labels(const Plan& plan, const Config& reference);

} // namespace heed
