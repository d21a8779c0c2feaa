// Colours of a terminal; plain text where there is none, or where NO_COLOR is set.
#pragma once

#include <string>
#include <string_view>

namespace heed {

struct Style {
  bool colour = false;

  std::string bold(std::string_view text) const { return with("1", text); }
  std::string faint(std::string_view text) const { return with("2", text); }
  std::string red(std::string_view text) const { return with("31", text); }
  std::string green(std::string_view text) const { return with("32", text); }

private:
  std::string with(std::string_view code, std::string_view text) const {
    if (!colour) return std::string(text);
    return "\033[" + std::string(code) + "m" + std::string(text) + "\033[0m";
  }
};

} // namespace heed
