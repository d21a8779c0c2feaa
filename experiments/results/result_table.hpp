// Reads a table of results that were made elsewhere: CSV, TSV, JSON lines, or a JSON list of objects. What a comparison
// of these results asks: the columns of the table, and how arms are compared.
#pragma once

#include "experiments/system/polling.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heed {

/// A cell with a text. Empty cells are not stored, so a table takes memory for what is in it, whatever the number of
/// its rows and columns.
struct ResultCell {
  std::uint64_t begin = 0; ///< of its text, within those of the table
  std::uint32_t size = 0, column = 0;
};

struct ResultRow {
  std::int64_t line = 0;
  std::size_t first = 0, count = 0; ///< its cells, by column
};

/// A table with named columns. Every cell is a text, as the file has it, without white space at its ends. `TableMaker`
/// makes it.
class ResultTable {
public:
  std::string name;                 ///< in messages: "results.csv"
  std::string counted = "line";     ///< what ResultRow::line counts: "line", or another unit such as "entry" or "row"
  std::vector<std::string> columns; ///< an unnamed column is ""
  std::vector<ResultRow> rows;

  /// The name without folders and control characters, for texts of reports: "results.csv".
  std::string file() const;
  /// "results.csv:7"; "results.json, entry 7".
  std::string place(std::int64_t line) const;
  /// Empty if the row has no such cell.
  std::string_view cell(const ResultRow& row, std::size_t column) const;
  std::span<const ResultCell> cells(const ResultRow& row) const {
    return std::span(cells_).subspan(row.first, row.count);
  }
  std::string_view text(const ResultCell& cell) const { return std::string_view(texts_).substr(cell.begin, cell.size); }

private:
  friend class TableMaker;
  std::vector<ResultCell> cells_;
  std::string texts_;
};

/// Makes a table row by row. All its functions throw heed::Refused, with the place, for what no table can have: too
/// many columns or cells, columns of one name, a name or a text that is too long. The caller can stop them (PollScope).
class TableMaker {
public:
  /// @param counted  what lines are: ResultTable::counted
  explicit TableMaker(std::string name, std::string counted = "line");

  const ResultTable& table() const { return table_; } ///< so far
  /// Adds columns with these names. Two of them can be unnamed.
  void add_columns(std::span<const std::string> names, std::int64_t line);
  /// The column of this name, which is added if it is new.
  std::size_t column(const std::string& name, std::int64_t line);
  /// Adds a row of these cells, of which each is in the column at its place.
  void add_row(std::int64_t line, std::span<const std::string> cells);
  /// Adds a row that has cells in some columns. Of two cells in a column, the second counts.
  void add_row(std::int64_t line, std::span<const std::pair<std::size_t, std::string>> cells);
  ResultTable made() { return std::move(table_); } ///< to be called once

private:
  void add_cell(std::int64_t line, std::size_t column, std::string_view text);

  ResultTable table_;
  std::unordered_map<std::string, std::size_t> places_; ///< of the columns
  PolledWork work_;
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

/// The fields have the names of the options of `heed compare`. Empty: the column is recognised by its name, or nothing
/// is asked.
struct ResultRequest {
  std::vector<std::string> metrics; ///< columns; the first decides, the others are compared as well
  std::string reference;            ///< the name of an arm, or a beginning that only one arm has
  // Columns. Several columns of `arm` together name an arm, and those of `pair` a pair of runs.
  std::vector<std::string> arm, pair, group;
  std::string seed, step, examples, state, time, parameters;
  std::string first; ///< the group that the others are compared with, in interactions; empty: the first by name
  /// How runs are called in the wide form: "{arm}-seed{seed}".
  std::string run_name;
  // How arms are compared. "higher" or "METRIC=higher"; "0,1" or "METRIC=0,1"; "nats" or "METRIC=nats".
  std::vector<std::string> direction, bounds, unit;
  std::optional<double> margin, learned;
  std::string answer = "same";  ///< same | not worse: what the margin is for
  std::string test = "paired";  ///< paired | unpaired
  std::string over = "none";    ///< none | these tasks | tasks like these: one answer over all groups
  std::string scale = "metric"; ///< with `over`: metric, or a number for each group: "0.2, 1.5"
  /// float32 | float64: values that differ by its rounding are equal. Tables have all the digits that they state.
  std::string precision = "float64";
  // Texts for readers.
  std::string name; ///< of the report; empty: the table's name without its ending
  std::string question;

  /// In messages, options are arguments of a function, as in Python: `run_name` instead of --run-name.
  bool options_are_arguments = false;
  std::string option(const char* word) const {
    if (!options_are_arguments) return std::string("--") + word;
    std::string name = std::string("`") + word + "`";
    std::ranges::replace(name, '-', '_');
    return name;
  }
};

} // namespace heed
