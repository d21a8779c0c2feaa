// The command line: which commands there are, what they take, and what their errors look like.
#pragma once

#include "experiments/command_line/console.hpp"

#include <string>
#include <vector>

namespace heed {

/// Runs one command. Errors are on `console.err` as `heed: message`.
/// @param arguments  without the program's name
/// @return the exit status: 0 done, 1 failed after it started, 2 refused before any work
int command_line(const std::vector<std::string>& arguments, Console& console);

} // namespace heed
