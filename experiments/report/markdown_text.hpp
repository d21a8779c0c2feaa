// Texts of people's in Markdown (GitHub's and CommonMark).
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// A text on one line as Markdown that shows just it: nothing of it becomes a mark, a link, an image, HTML, a heading, a
/// list or a cell. `in_cell`: for a table's cell, where no list begins.
std::string markdown_text(std::string_view text, bool in_cell = false);
/// A text on one line as code. In a cell, a bar is marked in code, too.
std::string markdown_code(std::string_view text, bool in_cell = false);
/// Lines as a block of code in a language.
std::string markdown_block(std::string_view lines, std::string_view language);

} // namespace heed
