// Recognises reports that Heed wrote.
#pragma once

#include <string_view>

namespace heed {

/// The first line of a report in Markdown, which readers do not see.
inline constexpr std::string_view markdown_mark = "<!-- A report of Heed. -->\n";

/// Whether a file with this beginning is a report of Heed, in any of its formats. Such a file can be made again. A
/// report in Markdown of before the mark is not recognised.
bool is_report_of_heed(std::string_view beginning);

} // namespace heed
