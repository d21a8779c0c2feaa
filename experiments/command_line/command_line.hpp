// The entry point of the command line: parses the arguments, runs the chosen command, and reports errors.
#pragma once

#include "experiments/command_line/console.hpp"

#include <string>
#include <vector>

namespace heed {

/// Runs one command. Errors are written to `console.err` as `heed: message`.
int command_line(const std::vector<std::string>& arguments, Console& console);

} // namespace heed
