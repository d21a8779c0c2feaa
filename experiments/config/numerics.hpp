// Which version of the numerics a configuration's results are of.
#pragma once

#include "experiments/config/settings.hpp"

#include <vector>

namespace heed {

/// Goes up whenever a configuration gives other bits than before.
inline constexpr int numerics_version = 8;

/// The last version that changed what this configuration gives, at most `numerics_version`: part of a run's identity.
/// Runs of all others are what they were.
int numerics_of(const std::vector<FlatOption>& options);

} // namespace heed
