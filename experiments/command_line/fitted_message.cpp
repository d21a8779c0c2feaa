#include "experiments/command_line/fitted_message.hpp"

#include "experiments/report/text_table.hpp"
#include "experiments/system/cut_text.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <ostream>
#include <string_view>

namespace heed {

namespace {

/// Appends a line of a message without its indentation. @param used  columns before the line
void append_fitted(std::string& out, std::string_view line, std::size_t used, const std::string& indent,
                   std::size_t width) {
  bool at_start = true;
  while (!line.empty()) {
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', spaces), line.size());
    const std::string word(line.substr(spaces, end - spaces));
    const std::size_t wide = display_width(word);
    if (!at_start && !word.empty() && used + spaces + wide > width) {
      out += fmt::format("\n{}{}", indent, word);
      used = indent.size() + wide;
    } else {
      out += std::string(spaces, ' ') + word;
      used += spaces + wide;
    }
    at_start = false;
    line.remove_prefix(end);
  }
}

} // namespace

std::string fitted(const std::string& message, std::size_t width, const std::string& program, std::size_t before) {
  if (width == 0) return message;
  std::string out;
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    const std::string_view line = std::string_view(message).substr(begin, end - begin);
    const std::size_t spaces = std::min(line.find_first_not_of(' '), line.size());
    const std::string_view words = line.substr(spaces);
    if (begin > 0) out += '\n';
    out += line.substr(0, spaces);
    if (words.starts_with(program + " ")) out += words;
    else
      append_fitted(out, words, spaces + (begin == 0 ? before : 0), std::string(begin == 0 ? 6 : spaces, ' '), width);
    begin = end + 1;
  }
  return out;
}

std::string fitted(const std::string& message, const Console& console, std::size_t before) {
  // Ten lines of a configuration, each with some of its text, are far shorter.
  return fitted(cut(message, 4 * longest_message), console.live ? console.width : 0, console.program, before);
}

void say(Console& console, const std::string& message) { console.err << fitted("heed: " + message, console) << "\n"; }

} // namespace heed
