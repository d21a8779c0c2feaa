// A searchable SQLite index of the runs in an output folder. It is derived from the runs' folders and stored in a
// folder of the user (index/index_place.hpp). OUT/index.sqlite is a copy for other tools; Heed writes it and never
// opens it. Times are texts in UTC; true and false are 1 and 0.
//
//   runs      id, name, state, seed, created, ended, seconds, step, parameters, threads, starts, heed, compiler, flags,
//             blas, numerics, host, cpu, data, failure, option_set
//   options   run, key, value         a view: an option that has an effect, by full name ('attention.score'), typed
//   metrics   run, name, last, step, best, best_step
//   folders   id, signature, problem  every folder, and why it is not in `runs` ('' if it is)
//   flat      a view: one row for each run, with columns "attention.score", "val_loss", ...
//
// Runs of one arm differ only in their seed, so their other options are stored once, in `option_sets` (option_set, key,
// value). `metric_names` contains all names in `metrics`.
//
// The field `arm` is stored in no file: the caller passes the labels of the arms (`set_arms`), because this room does
// not know sweeps. They are in a temporary table `arms` (run, label) in memory.
#pragma once

#include "experiments/index/database.hpp"
#include "experiments/index/index_place.hpp"
#include "experiments/index/run_entry.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A field by which runs can be found: a column of `runs`, an option, a metric, or the label of the run's arm.
struct IndexField {
  enum class Source { run, option, metric, arm };
  enum class Kind { number, text, flag, word_or_number };

  std::string name; ///< "seed", "attention.score", "block[1].residual", "val_loss.best"
  Source source = Source::run;
  Kind kind = Kind::text;
  std::string key;                ///< the key of the option or metric
  std::string column;             ///< the column in its table
  std::vector<std::string> words; ///< all allowed texts, if they are known
};

/// Part of an SQL statement, with the values of its parameters ("?").
struct SqlPart {
  std::string sql;
  std::vector<Cell> values;
};
/// The field's value for the row `r` of `runs`.
SqlPart sql_value(const IndexField& field);

/// A run that is not in the index, and the reason.
struct LeftOut {
  std::string id, reason;
};

/// Selects and sorts runs.
struct Selection {
  std::optional<SqlPart> where;   ///< result of `parse_filter`
  std::optional<IndexField> sort; ///< runs without a value are last; default: by start time
  bool reverse = false;
  std::optional<std::int64_t> limit;
};

/// The index of an output folder in its current state. The file is created anew if it is missing, from a different
/// version, or if any bit differs from what was written. Otherwise only changed folders are read. The index is in
/// memory if the file can't be written, or if other processes do not stop reading it. All answers refer to one moment.
/// While a RunIndex exists, other processes that find changes use an index in memory, so destroy it soon.
class RunIndex {
public:
  /// Throws heed::Refused if the folder does not exist.
  explicit RunIndex(const std::filesystem::path& out);
  ~RunIndex();
  RunIndex(const RunIndex&) = delete;
  RunIndex& operator=(const RunIndex&) = delete;

  /// Sets the label of the arm for each run ID; runs without one have no field `arm`.
  void set_arms(const std::map<std::string, std::string>& labels);

  /// All fields: columns of runs and `arm`, all options of the catalogue, and further options and metrics of the runs.
  const std::vector<IndexField>& fields() const { return fields_; }
  std::vector<LeftOut> left_out();
  std::size_t size();                             ///< number of runs in the index
  std::size_t read_anew() const { return read_; } ///< number of folders that were read by this object
  /// Why the index is in memory instead of in its file; empty if it is in its file.
  const std::string& in_memory() const { return in_memory_; }
  /// Why OUT/index.sqlite is out of date, if the user can fix it; otherwise empty.
  const std::string& not_copied() const { return not_copied_; }
  /// The index file; none if the index is in memory.
  std::filesystem::path file() const;

  /// One row for each run, one cell for each column.
  std::vector<std::vector<Cell>> select(const std::vector<IndexField>& columns, const Selection& selection = {});
  /// Every field for which a selected run has a value: columns of runs, then `arm` (if any run has a label), then
  /// options, then metrics' last values.
  std::vector<IndexField> fields_present(const std::optional<SqlPart>& where);
  /// Options that change results and for which the selected runs have different values. They are in the catalogue's
  /// order; options that all selected runs have come first.
  std::vector<IndexField> options_that_differ(const std::optional<SqlPart>& where);
  /// The most frequent value of an option in the selected runs; the smallest value in case of a tie. NULL if no run has
  /// a value.
  Cell commonest_value(const std::string& option, const std::optional<SqlPart>& where);
  /// Executes any query; for tests and other readers.
  std::vector<std::vector<Cell>> query(const std::string& sql, const std::vector<Cell>& values = {});

private:
  class Writing;
  void open();
  void use_memory();
  std::string sum();                        ///< checksum of the file's bytes; empty without a file
  void copy_to_out(const std::string& sum); ///< copies unless the last copy has this checksum
  bool refresh();                           ///< true if anything changed
  void make_tables();
  void fill_arms(); ///< makes the temporary table anew, since it belongs to the connection
  void make_flat_view();
  void find_fields();

  std::filesystem::path out_, folder_;
  std::optional<Database> database_;
  std::vector<IndexField> fields_;
  std::map<std::string, std::string> arms_;
  std::size_t read_ = 0;
  std::string in_memory_, not_copied_;
};

/// Finds a field by name. Throws heed::Refused with the nearest name if there is none; the message begins with `where`.
const IndexField& field_named(const std::vector<IndexField>& fields, std::string_view name, std::string_view where);

/// A name as a quoted SQL identifier, with each "\"" doubled.
std::string sql_name(std::string_view name);

/// A column of the table `runs`, with its type in SQL.
struct RunColumn {
  std::string_view name, type;
  IndexField::Kind kind;
};

/// The columns of `runs`, in the order in which `row_of` fills them.
// clang-format off
inline constexpr RunColumn run_columns[] = {
    {"id", "TEXT PRIMARY KEY", IndexField::Kind::text}, {"name", "TEXT", IndexField::Kind::text},
    {"state", "TEXT NOT NULL", IndexField::Kind::text}, {"seed", "INTEGER", IndexField::Kind::number},
    {"created", "TEXT", IndexField::Kind::text},        {"ended", "TEXT", IndexField::Kind::text},
    {"seconds", "REAL", IndexField::Kind::number},      {"step", "INTEGER", IndexField::Kind::number},
    {"parameters", "INTEGER", IndexField::Kind::number}, {"threads", "INTEGER", IndexField::Kind::number},
    {"starts", "INTEGER", IndexField::Kind::number},    {"heed", "TEXT", IndexField::Kind::text},
    {"compiler", "TEXT", IndexField::Kind::text},       {"flags", "TEXT", IndexField::Kind::text},
    {"kernels", "TEXT", IndexField::Kind::text},        {"blas", "TEXT", IndexField::Kind::text},
    {"numerics", "TEXT", IndexField::Kind::text},  {"host", "TEXT", IndexField::Kind::text},
    {"cpu", "TEXT", IndexField::Kind::text},            {"data", "TEXT", IndexField::Kind::text},
    {"failure", "TEXT", IndexField::Kind::text}};
// clang-format on

/// The run's row: the entry's value for each column.
std::vector<Cell> row_of(const RunEntry& entry);

} // namespace heed
