// Test helper: runs a command of the program `heed` in the test's own process and returns its exit status and output.
#pragma once

#include "experiments/command_line/command_line.hpp"

#include <boost/json.hpp>
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

/// The result in the envelope of a command that was asked for JSON.
inline boost::json::object result_of(const Answer& answer) {
  return boost::json::parse(answer.out).at("result").as_object();
}

} // namespace heed::test
