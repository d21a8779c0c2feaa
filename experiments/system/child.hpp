// Runs another program to its end and collects its output.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct ChildResult {
  bool found = true;   ///< false: the program does not exist
  bool in_time = true; ///< false: it took too long and was killed
  int status = 0;      ///< its exit status; 128 + N if signal N ended it
  std::string out, err;

  bool well() const { return found && in_time && status == 0; }
};

/// Runs a program from PATH with these arguments, writes `input` to its standard input, and returns its output. Throws
/// heed::Failed if no process can be created.
/// @param hands_on  selects the environment variables that the program inherits; empty: all
ChildResult run_child(const std::vector<std::string>& words, std::string_view input = {},
                      std::chrono::seconds most = std::chrono::seconds(60),
                      const std::function<bool(std::string_view variable)>& hands_on = {});

/// Converts texts to the null-terminated list that C functions take.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

/// Whether PATH has a program with this name.
bool has_program(std::string_view name);

} // namespace heed
