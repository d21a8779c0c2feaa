// The two exceptions that users see: Refused for invalid input, and Failed for errors during the work.
#pragma once

#include <stdexcept>

namespace heed {

/// Invalid input that is refused before any work: a configuration, a command line, data, an output folder. Exit status
/// 2. The message says where the error is, what was found, what is allowed, and how to correct it.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An error during the work: shapes that do not fit, a NaN loss, a full disk. Exit status 1.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace heed
