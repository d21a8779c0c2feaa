// Which variants tests try: all, or those that a developer names.
#pragma once

#include <cstdlib>
#include <string>

namespace heed {

/// Whether HEED_VARIANTS in the environment (names separated by spaces) has the name. True if it is not set.
/// Developers use it who add or edit a variant when all others have already been tested.
inline bool wanted(const std::string& name) {
  static const char* const names = std::getenv("HEED_VARIANTS");
  return !names || (" " + std::string(names) + " ").find(" " + name + " ") != std::string::npos;
}

} // namespace heed
