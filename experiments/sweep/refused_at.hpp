// Refusals that begin with the place of what is refused.
#pragma once

#include "autograd/error.hpp"
#include "experiments/config/settings.hpp"

#include <string>

namespace heed {

/// Throws heed::Refused: "a.toml:3:1: " and what is wrong.
[[noreturn]] inline void refuse_at(const Origin& origin, const std::string& what) {
  throw Refused(origin.text() + ": " + what);
}

} // namespace heed
