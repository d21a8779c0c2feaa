// Reads the rows of a file: lines, tab-separated values or comma-separated values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A row, with the number of its first line (counted from 1).
struct TableRow {
  std::int64_t line = 0;
  std::vector<std::string> cells;
};

/// The UTF-8 text that contains the rows, without a byte-order mark. Throws the same errors as the readers below.
std::string_view text_of_rows(std::string_view bytes, const std::string& name);

/// Calls `use` with each line and its number (counted from 1). Lines end with \n or \r\n. Text after the last line end
/// is a line if it is not empty.
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

/// Reads each line as a row with one cell. Lines end with \n or \r\n. Text after the last line end is a line if it is
/// not empty. All readers throw heed::Refused, with `name` in front, if the bytes are empty or not UTF-8.
std::vector<TableRow> read_lines(std::string_view bytes, const std::string& name);

/// Gets one row after the other.
using UseRow = std::function<void(TableRow&& row)>;

/// Reads tab-separated values. Cells are taken literally; quotes have no meaning. Empty lines are skipped.
std::vector<TableRow> read_tsv(std::string_view bytes, const std::string& name);

/// Reads comma-separated values (RFC 4180). A cell in double quotes may contain commas, line ends and doubled quotes.
/// Empty lines are skipped. Throws heed::Refused, with `name:line`, for an unclosed quote, for a quote inside an
/// unquoted cell, and for text after a closing quote.
std::vector<TableRow> read_csv(std::string_view bytes, const std::string& name);

/// `read_tsv` and `read_csv` without a copy of all rows: each row is passed to `use`, and a row with more cells than
/// `most` is refused before they take memory. The caller can stop them (PollScope).
void each_tsv_row(std::string_view bytes, const std::string& name, std::size_t most, const UseRow& use);
void each_csv_row(std::string_view bytes, const std::string& name, std::size_t most, const UseRow& use);
/// Tab-separated values as R and pandas write them: like CSV, but a quote within a quoted cell may also stand after a
/// backslash, and a cell that does not begin with a quote may contain some.
void each_quoted_tsv_row(std::string_view bytes, const std::string& name, std::size_t most, const UseRow& use);

} // namespace heed
