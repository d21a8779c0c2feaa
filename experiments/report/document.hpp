// The document of a report: what all formats show. It is made once, and it has all decisions: which columns, in which
// order, with which digits and which answers. A renderer writes it in its markup.
#pragma once

#include "experiments/report/verdict.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace heed::document {

/// A value at full precision, for files that programs read. Empty: unknown or not finite.
using FileValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Cell {
  std::vector<FileValue> values{};    ///< one for each of the column's keys; none: all are unknown
  std::string text{};                 ///< for people: a number has the digits of its row
  std::string spread{};               ///< "± 0.04"
  std::string interval{};             ///< "[-0.05, +0.09]"
  std::string remark{};               ///< "(n = 6)"
  bool missing = false;               ///< a number is unknown; formats show a dash
  bool in_words = false;              ///< the text stands in place of a number: "equal, bit for bit"
  AnswerWord mark = AnswerWord::none; ///< the answer that the cell's colour shows
};

struct Column {
  /// name: of an arm. count: an integer. number: of the metric. amount: with a unit of its own, such as a time.
  enum class Kind { name, text, count, number, probability, answer, amount };
  /// Who sees it: everybody; readers of the page, which has room; or only programs.
  enum class Detail { main, page, files };

  std::vector<std::string> keys; ///< the names of its values in files
  std::string title{};           ///< its heading; empty if only programs see it
  Kind kind = Kind::text;
  Detail detail = Detail::files;
  bool folds = false;  ///< a narrow page shows it below the row
  std::string about{}; ///< what it is, if the report's notes do not say it
  bool is_number() const { return kind != Kind::name && kind != Kind::text && kind != Kind::answer; }
};

struct Row {
  std::string group;       ///< "length = 64"; empty without groups
  std::string name;        ///< its name below the heading of its group
  bool reference = false;  ///< the other rows of its group are compared with it
  std::vector<Cell> cells; ///< one for each column
};

struct Table {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

/// A note, with a name that people can look up.
struct Note {
  /// column: on what the tables show. The others are on one arm, which is their name: its formulas, and how it was made
  /// comparable with the others.
  enum class Kind { column, formula, matching, tuning };
  Kind kind = Kind::column;
  std::string name;    ///< "p"
  std::string claim;   ///< its first sentence
  std::string text;    ///< all of it
  bool second = false; ///< few readers need it: where there is little room, it is folded
};

} // namespace heed::document
