// Comma-separated values (RFC 4180), written; read_csv (table_file.hpp) reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A cell; in quotes where it holds a comma, a quote or a line break.
std::string csv_cell(std::string_view text);
/// Cells with commas between, and what ends the line: a newline alone is what Unix tools expect, "\r\n" what the RFC
/// says.
std::string csv_line(const std::vector<std::string>& cells, std::string_view end = "\n");
/// A line of a table that people open: cells without commands to a terminal or to a spreadsheet. A spreadsheet would
/// execute a text that begins with = + - @ or a tab, so an apostrophe stands before one that is no number.
std::string sheet_line(std::vector<std::string> cells, std::string_view end = "\n");
/// The shortest text that reads back as the same number; "nan" and "inf" where it isn't finite.
std::string csv_number(double value);

} // namespace heed
