// The version of the numerics that a configuration's results depend on.
#pragma once

#include "experiments/config/settings.hpp"

#include <vector>

namespace heed {

/// Increases whenever some configuration gives different bits than before.
inline constexpr int numerics_version = 12;

/// The last version that changed the results of this configuration, at most `numerics_version`. It is part of a run's
/// identity. So a new version leaves the identities of unaffected configurations unchanged.
int numerics_of(const std::vector<FlatOption>& options);

} // namespace heed
