// The files in experiments/report/page/, and D3, as they were when the program was built (page/embed.py).
#pragma once

#include <string_view>

namespace heed::page_files {

extern const std::string_view page; ///< report.html, with {{places}} for the others
extern const std::string_view style;
extern const std::string_view script; ///< all of the page's own programs, one after the other
extern const std::string_view d3;     ///< https://d3js.org, version 5 (ISC licence), Debian's package node-d3

} // namespace heed::page_files
