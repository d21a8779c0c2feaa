// The contents of the files in experiments/report/page/, of D3 and of the schema, embedded at build time
// (page/embed.py).
#pragma once

#include <string_view>

namespace heed::page_files {

extern const std::string_view page; ///< report.html, with {{places}} for the other files
extern const std::string_view style;
extern const std::string_view script; ///< all of the page's own scripts, concatenated
extern const std::string_view d3;     ///< https://d3js.org, version 5 (ISC licence), Debian's package node-d3
extern const std::string_view schema; ///< docs/reference/report.schema.json

} // namespace heed::page_files
