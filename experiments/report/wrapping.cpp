#include "experiments/report/wrapping.hpp"

#include "experiments/system/polling.hpp"

#include <algorithm>
#include <sstream>

namespace heed {

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
