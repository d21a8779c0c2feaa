// The two kinds of error that people meet.
#pragma once

#include <stdexcept>
#include <string>

namespace heed {

/// Something that is refused before any work: a configuration, a command line, data, an output folder. Exit status 2.
/// The message says where, what was found, what is allowed, and how to mend it.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something that failed at work: shapes that do not fit, a NaN loss, a full disk. Exit status 1.
struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

} // namespace heed
