// The document of a report: what all formats show. It is made once, and it has all decisions: which columns, in which
// order, with which digits and which answers. A renderer writes it in its markup.
#pragma once

#include "experiments/report/answers.hpp"

#include <array>
#include <boost/describe/enum.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
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
  BOOST_DESCRIBE_NESTED_ENUM(Kind, name, text, count, number, probability, answer, amount)
  /// Who sees it: everybody; readers of the page, which has room; or only programs.
  enum class Detail { main, page, files };
  BOOST_DESCRIBE_NESTED_ENUM(Detail, main, page, files)

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
  BOOST_DESCRIBE_NESTED_ENUM(Kind, column, formula, matching, tuning)
  Kind kind = Kind::column;
  std::string name{};  ///< "p"
  std::string claim{}; ///< in one sentence, for readers with little room
  std::string text{};  ///< all of it
  bool second = false; ///< few readers need it: where there is little room, it is folded
};

/// A point of a line, or the value of a row.
struct Point {
  double at = 0;                              ///< the step or the length; 0 in rows
  double value = 0;                           ///< the mean over the runs, or a difference
  double low = 0, high = 0;                   ///< the least and the greatest run, or the interval
  std::optional<double> standard_deviation{}; ///< over the runs; empty for one run, and for differences
  std::size_t runs = 0;
  std::string text{}, spread{}; ///< of a line, for people: "0.31" and "± 0.04"
};

/// A line, or a row.
struct Series {
  std::string group{};                ///< the heading above its row; empty without groups
  std::string name{};                 ///< of its arm, within the group
  std::size_t look = 0;               ///< which of the media's colours, dashes and symbols it has; 0: the reference's
  AnswerWord mark = AnswerWord::none; ///< of a row: its answer
  bool has_range = true;              ///< false: low and high are the value, because there is no interval
  bool outside = false;               ///< it would leave the others no room, so only its text is shown
  std::string text{}; ///< its number for people: of a row "+0.31 [+0.28, +0.34]", of a line its last value
  std::vector<Point> points{};
};

struct Axis {
  std::string label{};
  double low = 0, high = 0; ///< of all that is shown
  bool logarithmic = false;
  bool has_fractions = false;         ///< false: its values are whole numbers, such as steps
  std::vector<double> ticks{};        ///< empty: where a medium has room for them
  std::array<std::string, 2> sides{}; ///< what is below 0 and above it: "better" and "worse"
};

/// differences: a row for each arm, with its interval, 0 and the margin. lines: a line for each arm over steps or
/// lengths, with a band. bars: rows with a bar that begins at 0, and its interval.
struct Figure {
  enum class Kind { differences, lines, bars };
  BOOST_DESCRIBE_NESTED_ENUM(Kind, differences, lines, bars)
  Kind kind = Kind::differences;
  std::string name{};    ///< for commands and files: "differences", "val-loss-by-step"
  std::string metric{};  ///< what its lines show: "val_loss"; of differences the report's
  std::string group{};   ///< "length = 64", if the figure is of one group
  std::string title{};   ///< "val_loss by training step"
  std::string caption{}; ///< sentences
  bool second = false;   ///< few readers need it
  Axis x{}, y{};
  bool is_cut = false;            ///< something is outside
  std::optional<double> margin{}; ///< of differences: the band from -margin to margin counts as the same
  std::optional<double> mark{};   ///< the longest length of training
  std::optional<double> chance{}; ///< what guessing reaches, of lines of the report's metric
  /// Of differences that are tested for *not worse*: a line in place of the band, at the margin on the worse side. A
  /// point's low or high is then infinite: the interval is open on the better side.
  std::optional<double> margin_line{};
  std::vector<Series> series{};
};

} // namespace heed::document
