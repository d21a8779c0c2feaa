#include "experiments/system/text.hpp"

#include <fmt/format.h>

namespace heed {

std::string counted(std::size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, plural(n)); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

std::vector<std::string> parts_of(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines = parts_of(text, '\n');
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  return lines;
}

} // namespace heed
