// Formats tables of text with aligned columns, wraps them to a terminal's width, and writes them as Markdown.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace heed {

enum class Align { left, right };

struct TextTable {
  std::vector<std::string> headings;
  std::vector<Align> alignment;               ///< of each column
  std::vector<std::vector<std::string>> rows; ///< each row has one cell for each heading

  void add_column(std::string heading, Align align = Align::right) {
    headings.push_back(std::move(heading));
    alignment.push_back(align);
  }
};

/// Replaces line ends and tabs by spaces.
std::string in_one_line(std::string text);

/// The number of terminal columns that a UTF-8 text occupies; colours (ESC [ ... m) occupy none.
std::size_t display_width(const std::string& text);

/// Cuts `text` to `width` columns. If anything is cut, the last column is an ellipsis.
std::string cut_to(const std::string& text, std::size_t width);

/// The table as text: columns are separated by two spaces, lines are indented by two, and each cell is on one line.
/// `heading_style` and `style_end` surround the line of headings.
std::string to_text(const TextTable& table, const std::string& heading_style = "", const std::string& style_end = "");
/// A Markdown table that displays the cells literally.
std::string to_markdown(const TextTable& table);
/// A Markdown table whose headings and cells already are Markdown (markdown_text, markdown_code).
std::string markdown_table(const TextTable& table);

/// Wraps `text` between words into lines of at most `width` columns, each ending with a newline. The first line begins
/// with `first`, the others with `rest`. A wider word has its own line. With a width of 0, one line.
std::string wrapped(const std::string& text, std::size_t width, const std::string& first = "",
                    const std::string& rest = "");

/// `to_text`; a table wider than `width` is split into parts below each other, each with the first column. With a width
/// of 0, one part.
std::string to_text_within(const TextTable& table, std::size_t width, const std::string& heading_style = "",
                           const std::string& style_end = "");

} // namespace heed
