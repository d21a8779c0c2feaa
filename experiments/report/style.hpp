// Text colours and styles for a terminal; plain text if there is no terminal, or if NO_COLOR is set.
#pragma once

#include <string>
#include <string_view>

namespace heed {

struct Style {
  bool colour = false;
  std::string mark{}; ///< precedes each control sequence written by Heed; Console's streams pass only marked sequences

  /// Marks a control sequence written by Heed, such as "\033[1m".
  std::string command(std::string_view sequence) const { return mark + std::string(sequence); }

  std::string bold(std::string_view text) const { return with("1", text); }
  std::string faint(std::string_view text) const { return with("2", text); }
  std::string red(std::string_view text) const { return with("31", text); }
  std::string green(std::string_view text) const { return with("32", text); }

private:
  std::string with(std::string_view code, std::string_view text) const {
    if (!colour) return std::string(text);
    return command("\033[" + std::string(code) + "m") + std::string(text) + command("\033[0m");
  }
};

} // namespace heed
