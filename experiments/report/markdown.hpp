// Escapes user-supplied text for Markdown (GitHub's and CommonMark).
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Escapes a text as one line of Markdown that is displayed literally: no part becomes formatting, a link, an image,
/// HTML, a heading, a list or a cell. `in_cell`: for a table cell, in which no list can begin.
std::string markdown_text(std::string_view text, bool in_cell = false);
/// A text as inline code on one line. In a cell, the bar is escaped also in code.
std::string markdown_code(std::string_view text, bool in_cell = false);
/// A code block in a language.
std::string markdown_block(std::string_view lines, std::string_view language);

} // namespace heed
