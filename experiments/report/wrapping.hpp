// Wraps text and tables to a terminal's width.
#pragma once

#include "experiments/report/text_table.hpp"

#include <cstddef>
#include <string>

namespace heed {

/// Wraps `text` between words into lines of at most `width` columns, each ending with a newline. The first line begins
/// with `first`, the others with `rest`. A wider word has its own line. With a width of 0, one line.
std::string wrapped(const std::string& text, std::size_t width, const std::string& first = "",
                    const std::string& rest = "");

/// `to_text`; a table wider than `width` is split into parts below each other, each with the first column. With a width
/// of 0, one part.
std::string to_text_within(const TextTable& table, std::size_t width, const std::string& heading_style = "",
                           const std::string& style_end = "");

} // namespace heed
