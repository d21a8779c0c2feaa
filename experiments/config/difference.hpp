// What differs between two configurations.
#pragma once

#include "experiments/config/config.hpp"

#include <string>
#include <vector>

namespace heed {

/// An option that differs, by its full name, with both values as TOML writes them; empty where the option does nothing
/// in one of the configurations. Single blocks' own values are named "block[2].attention.score".
struct Difference {
  std::string key, a, b;
};

/// In the catalogue's order.
std::vector<Difference> difference(const Config& a, const Config& b);

/// The configuration of an empty file.
Config default_config();

} // namespace heed
