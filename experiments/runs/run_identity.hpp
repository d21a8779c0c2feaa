// A run's ID: a hash of the options that differ from their defaults and can change results, of the data and of the
// numerics.
#pragma once

#include "experiments/config/settings.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A run's ID, 16 hexadecimal digits: a hash of the seed, the options that differ from their defaults and can change a
/// result (FlatOption::identifies), the data (the task's `fingerprint()`) and the numerics (`numerics_of`).
std::string run_id(const Config& config, std::string_view fingerprint);
std::string run_id(const std::vector<FlatOption>& options, std::string_view fingerprint);
/// The text that is hashed, and the ID of such a text.
std::string identity_text(const std::vector<FlatOption>& options, std::string_view fingerprint);
std::string run_id_of(std::string_view identity_text);

} // namespace heed
