// Another program, run to its end.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct ChildResult {
  bool found = true;   ///< false: there is no such program
  bool in_time = true; ///< false: it was killed, since it took too long
  int status = 0;      ///< its exit status; 128 + N where signal N ended it
  std::string out, err;

  bool well() const { return found && in_time && status == 0; }
};

/// Runs a program of PATH with these words, hands it `input`, and returns what it wrote.
/// Throws heed::Failed where no process can be had.
/// @param hands_on  which variables of this process's environment it gets; none: all
ChildResult run_child(const std::vector<std::string>& words, std::string_view input = {},
                      std::chrono::seconds most = std::chrono::seconds(60),
                      const std::function<bool(std::string_view variable)>& hands_on = {});

/// Whether PATH has a program of this name.
bool has_program(std::string_view name);

} // namespace heed
