// Writes comma-separated values (RFC 4180). read_csv (table_file.hpp) reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A cell. It is in quotes if it contains a comma, a quote or a line break.
std::string csv_cell(std::string_view text);
/// Cells separated by commas, followed by a line end. Unix tools expect "\n"; the RFC specifies "\r\n".
std::string csv_line(const std::vector<std::string>& cells, std::string_view end = "\n");
/// A line of a table that people open: its cells contain no terminal commands and no spreadsheet formulas. A
/// spreadsheet executes a text that begins with = + - @ or a tab. Such a cell gets an apostrophe in front, unless it is
/// a number.
std::string sheet_line(std::vector<std::string> cells, std::string_view end = "\n");
/// A cell of a tab-separated table without quotes: a tab, a line feed, a carriage return and a backslash become "\t",
/// "\n", "\r" and "\\".
std::string tsv_cell(std::string_view text);
/// The shortest text that reads back as the same number; "nan" or "inf" if the number is not finite.
std::string csv_number(double value);

} // namespace heed
