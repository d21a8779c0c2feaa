#include "experiments/report/markdown_text.hpp"

#include "experiments/config/values.hpp"
#include "experiments/report/text_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace heed {

namespace {

/// The text on one line without leading and trailing spaces: four leading spaces would make it code.
std::string plain_line(std::string_view text) {
  const std::string line = in_one_line(without_controls(text));
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(' ') + 1 - first);
}

/// A fence of at least `least` backquotes, longer than any sequence of backquotes in the text.
std::string fence_around(std::string_view text, std::size_t least) {
  std::size_t longest = 0, here = 0;
  for (const char c : text) {
    here = c == '`' ? here + 1 : 0;
    longest = std::max(longest, here);
  }
  return std::string(std::max(least, longest + 1), '`');
}

} // namespace

std::string markdown_text(std::string_view text, bool in_cell) {
  const std::string line = plain_line(text);
  const auto has = [&](std::string_view part) { return line.find(part) != std::string::npos; };
  // Brackets and > are formatting only in combination with other characters, so they are not escaped in intervals and
  // arrows.
  std::string marks = "\\`*_{}<#|~$&";
  if (line.starts_with('[') || std::ranges::any_of(std::array{"](", "][", "[^", "[["}, has)) marks += "[]";
  if (line.starts_with('>') || has("<")) marks += ">";
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool within = i > 0 && i + 1 < line.size() && in_word(line[i - 1]) && in_word(line[i + 1]);
    // Characters that are formatting only at the beginning of a line: lists, rules, setext headings.
    const bool ends = i + 1 == line.size() || line[i + 1] == ' ' || line[i + 1] == c;
    const bool begins = !in_cell && ends &&
                        (i == 0 ? c == '-' || c == '+' || c == '='
                                : (c == '.' || c == ')') && line.find_first_not_of("0123456789") == i);
    // GitHub links plain addresses: https://..., www..., name@place. A backslash does not prevent this for the last
    // form, but an empty comment does.
    const bool address = (c == ':' && line.compare(i + 1, 1, "/") == 0) ||
                         (c == '.' && i >= 3 &&
                          std::ranges::all_of(line.substr(i - 3, 3), [](char w) { return w == 'w' || w == 'W'; }));
    const bool mark = marks.find(c) != std::string::npos && !(c == '_' && within);
    if (mark || begins || address) out += '\\';
    out += c;
    if (c == '@') out += "<!-- -->";
  }
  return out;
}

std::string markdown_code(std::string_view text, bool in_cell) {
  const std::string line = plain_line(text);
  // In a cell, code cannot represent a backslash before a bar.
  if (line.empty() || (in_cell && line.find("\\|") != std::string::npos)) return markdown_text(line, in_cell);
  const std::string fence = fence_around(line, 1), gap = line.front() == '`' || line.back() == '`' ? " " : "";
  std::string out = fence + gap;
  for (const char c : line) {
    if (c == '|' && in_cell) out += '\\';
    out += c;
  }
  return out + gap + fence;
}

std::string markdown_block(std::string_view lines, std::string_view language) {
  const std::string text = without_controls(lines), fence = fence_around(text, 3);
  return fence + std::string(language) + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n";
}

} // namespace heed
