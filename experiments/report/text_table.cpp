#include "experiments/report/text_table.hpp"

#include "experiments/report/markdown.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <sstream>

namespace heed {

namespace {

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::size_t used = display_width(cell);
  const std::string space(width > used ? width - used : 0, ' ');
  return align == Align::left ? in_one_line(cell) + space : space + in_one_line(cell);
}

std::string line_of(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                    const std::vector<Align>& alignment) {
  poll_caller();
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += "  " + padded(cells[i], widths[i], alignment[i]);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

} // namespace

std::string in_one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

std::size_t display_width(const std::string& text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      while (i < text.size() && text[i] != 'm') ++i;
      continue;
    }
    if (!continues_character(text[i])) ++width;
  }
  return width;
}

std::string cut_to(const std::string& text, std::size_t width) {
  if (display_width(text) <= width) return text;
  std::string out;
  std::size_t used = 0;
  for (const char c : text) {
    if (!continues_character(c) && ++used >= width) break;
    out += c;
  }
  return width == 0 ? "" : out + "…";
}

std::string to_text(const TextTable& whole, const std::string& heading_style, const std::string& style_end) {
  constexpr std::size_t longest_cell = 2000;
  TextTable table = whole;
  for (auto& row : table.rows)
    for (std::string& cell : row) cell = cut(cell, longest_cell);
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < table.headings.size(); ++column) {
    std::size_t width = display_width(table.headings[column]);
    for (const auto& row : table.rows) width = std::max(width, display_width(row[column]));
    widths.push_back(width);
  }
  std::string out = heading_style + line_of(table.headings, widths, table.alignment) + style_end + "\n";
  for (const auto& row : table.rows) out += line_of(row, widths, table.alignment) + "\n";
  return out;
}

std::string to_markdown(const TextTable& table) {
  TextTable marked = table;
  for (std::string& heading : marked.headings) heading = markdown_text(heading, true);
  for (auto& row : marked.rows)
    for (std::string& cell : row) cell = markdown_text(cell, true);
  return markdown_table(marked);
}

std::string markdown_table(const TextTable& table) {
  auto line = [](const std::vector<std::string>& cells) {
    std::string text = "|";
    for (const std::string& cell : cells) text += " " + cell + " |";
    return text + "\n";
  };
  std::string out = line(table.headings) + "|";
  for (const Align align : table.alignment) out += align == Align::left ? " --- |" : " ---: |";
  out += "\n";
  for (const auto& row : table.rows) out += line(row);
  return out;
}

std::string wrapped(const std::string& text, std::size_t width, const std::string& first, const std::string& rest) {
  poll_caller();
  if (width == 0) return first + text + "\n";
  std::istringstream words(text);
  std::string out, line, word;
  const auto begin = [&] { line = out.empty() ? first : rest; };
  begin();
  bool fresh = true;
  while (words >> word) {
    if (!fresh && display_width(line) + 1 + display_width(word) > width) {
      out += line + "\n";
      begin();
      fresh = true;
    }
    line += (fresh ? "" : " ") + word;
    fresh = false;
  }
  return out + line + "\n";
}

std::string to_text_within(const TextTable& table, std::size_t width, const std::string& heading_style,
                           const std::string& style_end) {
  const auto width_of = [&](std::size_t column) {
    std::size_t most = display_width(table.headings[column]);
    for (const auto& row : table.rows) most = std::max(most, display_width(row[column]));
    return most + 2; // plus the space before it
  };
  std::string out;
  for (std::size_t column = 1; column < table.headings.size() || out.empty();) {
    TextTable part;
    part.rows.resize(table.rows.size());
    std::size_t used = 0;
    const auto take = [&](std::size_t c) {
      used += width_of(c);
      part.headings.push_back(table.headings[c]);
      part.alignment.push_back(table.alignment[c]);
      for (std::size_t r = 0; r < table.rows.size(); ++r) part.rows[r].push_back(table.rows[r][c]);
    };
    take(0);
    bool any = false;
    for (; column < table.headings.size() && (!any || width == 0 || used + width_of(column) <= width); ++column) {
      take(column);
      any = true;
    }
    out += (out.empty() ? "" : "\n") + to_text(part, heading_style, style_end);
    if (!any) break;
  }
  return out;
}

} // namespace heed
