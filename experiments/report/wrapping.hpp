// Text as wide as a terminal.
#pragma once

#include "experiments/report/text_table.hpp"

#include <cstddef>
#include <string>

namespace heed {

/// `text` in lines of at most `width` columns, broken between words, each ending with a newline: the first begins with
/// `first`, the others with `rest`. A word that is wider stands alone. With a width of 0, one line.
std::string wrapped(const std::string& text, std::size_t width, const std::string& first = "",
                    const std::string& rest = "");

/// `to_text`, where it is wider than `width` in parts beneath each other, each with the first column. With a width of
/// 0, in one part.
std::string to_text_within(const TextTable& table, std::size_t width, const std::string& heading_style = "",
                           const std::string& style_end = "");

} // namespace heed
