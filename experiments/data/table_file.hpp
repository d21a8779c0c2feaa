// Rows of a file: lines, tab-separated values, comma-separated values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A row with the number of the line that it begins in, from 1.
struct TableRow {
  std::int64_t line = 0;
  std::vector<std::string> cells;
};

/// UTF-8 that rows are read from, without a byte-order mark. Throws as the readers below do.
std::string_view text_of_rows(std::string_view bytes, const std::string& name);

/// Calls `use` with the number of each line, from 1, and the line: \n and \r\n end lines, and what follows the last of
/// them is a line if it is not empty.
template <class Use> void each_line(std::string_view text, Use use) {
  std::int64_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t found = text.find('\n', begin), end = found == text.npos ? text.size() : found;
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    use(++number, line);
    begin = end + 1;
  }
}

/// Each line as a row of one cell; \n and \r\n end lines, and what follows the last of them is a line if it is not
/// empty. All readers throw heed::Refused, with `name` in front, for bytes that are empty or not UTF-8.
std::vector<TableRow> read_lines(std::string_view bytes, const std::string& name);

/// Tab-separated values: cells are taken as they are, without quotes. Lines of no character are left out.
std::vector<TableRow> read_tsv(std::string_view bytes, const std::string& name);

/// Comma-separated values (RFC 4180): a cell in double quotes may hold commas, line ends and, doubled, quotes. Lines
/// of no character are left out. Throws heed::Refused, as `name:line`, for a quote that is not closed, or that stands
/// within a cell without quotes, and for text after a closing quote.
std::vector<TableRow> read_csv(std::string_view bytes, const std::string& name);

} // namespace heed
