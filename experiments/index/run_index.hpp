// A searchable index of the runs in an output folder. It is derived from the runs' folders, which are the truth, and kept
// in a folder of the user's own (index/index_place.hpp). OUT/index.sqlite is a copy for other tools, which Heed writes and
// never opens. Times are texts in UTC; true and false are 1 and 0.
//
//   runs      id, name, state, seed, created, ended, seconds, step, parameters, threads, starts, heed, compiler, flags,
//             blas, numerics, host, cpu, data, failure, option_set
//   options   run, key, value         a view: an option that does something, by full name ('attention.score'), typed
//   metrics   run, name, last, step, best, best_step
//   folders   id, signature, problem  every folder, and why it is not among the runs ('' where it is)
//   flat      a view: a row a run, with columns "attention.score", "val_loss", ...
//
// Runs of one arm differ in their seed alone, so that what options have but for it stands once, in `option_sets`
// (option_set, key, value); `metric_names` are all names in `metrics`.
#pragma once

#include "experiments/index/database.hpp"
#include "experiments/index/index_place.hpp"
#include "experiments/index/run_entry.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What runs can be found by: a column of `runs`, an option, or a metric.
struct IndexField {
  enum class Source { run, option, metric };
  enum class Kind { number, text, flag, word_or_number };

  std::string name; ///< "seed", "attention.score", "block[1].residual", "val_loss.best"
  Source source = Source::run;
  Kind kind = Kind::text;
  std::string key;                ///< of the option or metric
  std::string column;             ///< of its table
  std::vector<std::string> words; ///< all that a text may be, where that is known
};

/// Part of an SQL statement with the values for its question marks.
struct SqlPart {
  std::string sql;
  std::vector<Cell> values;
};
/// The field's value for the row `r` of runs.
SqlPart sql_value(const IndexField& field);

/// A run that is not in the index, and why.
struct LeftOut {
  std::string id, reason;
};

/// Which runs, in which order.
struct Selection {
  std::optional<SqlPart> where;   ///< as `parse_filter` made it
  std::optional<IndexField> sort; ///< those without a value come last; otherwise by the time of their start
  bool reverse = false;
  std::optional<std::int64_t> limit;
};

/// The index, as its folder is now. The file is made anew where it is missing, from another version, or differs in any bit
/// from what was written; otherwise only what changed is read. Where it can't be written, or others go on reading it,
/// the index is in memory. What it answers is of one moment. While one of these lives, others that find something new are
/// in memory: let it go.
class RunIndex {
public:
  /// Throws heed::Refused where there is no such folder.
  explicit RunIndex(const std::filesystem::path& out);
  ~RunIndex();
  RunIndex(const RunIndex&) = delete;
  RunIndex& operator=(const RunIndex&) = delete;

  /// All fields: of runs, all options of the catalogue, and what the runs have beside these.
  const std::vector<IndexField>& fields() const { return fields_; }
  std::vector<LeftOut> left_out();
  std::size_t size();                             ///< runs in the index
  std::size_t read_anew() const { return read_; } ///< folders that were read this time
  /// Why the index is not in its file; empty where it is.
  const std::string& in_memory() const { return in_memory_; }
  /// Why OUT/index.sqlite is not a copy of it now, where that is for the user to mend; empty otherwise.
  const std::string& not_copied() const { return not_copied_; }
  /// Its file; none where it is in memory.
  std::filesystem::path file() const;

  /// A row for each run, a cell for each column.
  std::vector<std::vector<Cell>> select(const std::vector<IndexField>& columns, const Selection& selection = {});
  /// Every field that any selected run has a value of: of runs, then options, then metrics' last values.
  std::vector<IndexField> fields_present(const std::optional<SqlPart>& where);
  /// Options that change results, and that the selected runs don't all have with the same value; in the catalogue's
  /// order, those that all of them have first.
  std::vector<IndexField> options_that_differ(const std::optional<SqlPart>& where);
  /// The value that most of the selected runs have of an option; of several such, the least. Null where none has one.
  Cell commonest_value(const std::string& option, const std::optional<SqlPart>& where);
  /// Any query, for tests and other readers.
  std::vector<std::vector<Cell>> query(const std::string& sql, const std::vector<Cell>& values = {});

private:
  class Writing;
  void open();
  void use_memory();
  std::string sum();                        ///< of the file's bytes; empty where it has none
  void copy_to_out(const std::string& sum); ///< where what was copied last is not what has this sum
  bool refresh();                           ///< whether there was anything new
  void make_tables();
  void make_flat_view();
  void find_fields();

  std::filesystem::path out_, folder_;
  std::optional<Database> database_;
  std::vector<IndexField> fields_;
  std::size_t read_ = 0;
  std::string in_memory_, not_copied_;
};

/// The field of a name. Throws heed::Refused with the nearest name where there is none; `where` begins the message.
const IndexField& field_named(const std::vector<IndexField>& fields, std::string_view name, std::string_view where);

/// "\"" doubled, within quotes: a name as SQL has it.
std::string sql_name(std::string_view name);

} // namespace heed
