// Reads a table of results that were made elsewhere: CSV, TSV, JSON lines, or a JSON list of objects.
#pragma once

#include "experiments/data/table_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A table with named columns. Every cell is a text, as the file has it.
struct ResultTable {
  std::string name;                 ///< in messages: "results.csv"
  std::string counted = "line";     ///< what TableRow::line counts: "line", or another unit such as "entry" or "row"
  std::vector<std::string> columns; ///< an unnamed column is ""
  std::vector<TableRow> rows;       ///< cells beyond the end of a row are empty

  /// The name without folders and control characters, for texts of reports: "results.csv".
  std::string file() const;
  /// "results.csv:7"; "results.json, entry 7".
  std::string place(std::int64_t line) const;
  /// A row's cell without white space at its ends.
  std::string_view cell(const TableRow& row, std::size_t column) const;
};

/// Recognises the form of a table by its first characters and reads it. JSON objects within objects become columns such
/// as "config.seed"; null and missing members are empty cells; NaN and Infinity, which Python writes, are read.
/// Throws heed::Refused, with the place, for bytes that are no such table: empty, not UTF-8, a row with too many or too
/// few cells, two columns of one name, no rows.
/// @param name  the file's name in messages
ResultTable read_results(std::string_view bytes, const std::string& name);

/// A text of a file as messages show it: in double quotes, without control characters, cut if it is long.
std::string shown_text(std::string_view text);

/// A text of a table that names something in a report: an arm, a seed, a run, a column. On one line, without control
/// characters.
std::string shown_name(std::string_view text);

} // namespace heed
