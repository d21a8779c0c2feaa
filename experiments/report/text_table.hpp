// Tables of text in aligned columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heed {

enum class Align { left, right };

struct TextTable {
  std::vector<std::string> headings;
  std::vector<Align> alignment;               ///< of each column
  std::vector<std::vector<std::string>> rows; ///< as many cells as there are headings
};

/// The text with blanks in place of its line ends and tabs.
std::string in_one_line(std::string text);

/// How many columns of a terminal a UTF-8 text takes; colours (ESC [ ... m) take none.
std::size_t display_width(const std::string& text);

/// `text` cut to `width` columns, the last of them an ellipsis where something was cut.
std::string cut_to(const std::string& text, std::size_t width);

/// Columns two spaces apart, each line indented by two, and each cell on one line; `heading_style` and its end surround the headings' line.
std::string to_text(const TextTable& table, const std::string& heading_style = "", const std::string& style_end = "");
/// A Markdown table that shows the cells' texts.
std::string to_markdown(const TextTable& table);
/// A Markdown table whose headings and cells are Markdown (markdown_text, markdown_code).
std::string markdown_table(const TextTable& table);

} // namespace heed
