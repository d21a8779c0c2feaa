// What differs between two runs, or a run and a config.
#pragma once

#include "experiments/actions/results.hpp"

#include <string>

namespace heed {

/// @param a, b  a run's path, a unique beginning of its ID within the folder `out`, or a config's file
/// Throws heed::Refused if there is none.
DiffResult difference_of(const std::string& a, const std::string& b, const std::string& out);

} // namespace heed
