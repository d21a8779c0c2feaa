// Test helper: runs a command of the program `heed` in the test's own process and returns its exit status and output.
#pragma once

#include "experiments/command_line/command_line.hpp"

#include <sstream>
#include <string>
#include <vector>

namespace heed::test {

struct Answer {
  int status;
  std::string out, err;
};

inline Answer heed_says(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  const int status = command_line(arguments, console);
  return {status, out.str(), err.str()};
}

} // namespace heed::test
