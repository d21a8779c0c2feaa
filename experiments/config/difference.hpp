// The options in which two configurations differ, with both values.
#pragma once

#include "experiments/config/config.hpp"

#include <string>
#include <vector>

namespace heed {

/// An option that differs: its full name and both values in TOML syntax. A value is empty if the option has no effect
/// in that configuration. Values of single blocks are named "block[2].attention.score".
struct Difference {
  std::string key, a, b;
};

/// All differences, in the order of the catalogue.
std::vector<Difference> difference(const Config& a, const Config& b);

/// The configuration of an empty file.
Config default_config();

} // namespace heed
