// Collects the runs of a table of results: which arm, group and seed each one has, and its values. Finds the columns by
// the names that people and trackers give them, and reads their cells.
#pragma once

#include "experiments/results/result_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A metric's value at a step, which may be NaN or infinite.
struct ResultValue {
  std::int64_t step = 0, line = 0;
  double value = 0;
};

/// A run of the table.
struct ResultRun {
  std::string arm;                              ///< without control characters
  std::vector<std::string> group;               ///< its values of the columns of `group`
  std::string pair;                             ///< its seed, or its values of the columns of `pair`: "3", "3/0"
  std::string id;                               ///< what the table calls it, or where it is: "line 7"
  std::int64_t line = 0;                        ///< its first row
  std::int64_t last_step = 0;                   ///< of its rows
  std::string state, problem;                   ///< at its last step; empty: not in the table
  std::vector<std::vector<ResultValue>> values; ///< for each metric, by step
  /// For each metric: the first step after its last value at which its cell is empty, although most runs have a value
  /// there; -1: none. pandas writes NaN as an empty cell, so the run has failed.
  std::vector<std::int64_t> holes;
  std::vector<double> examples; ///< the first metric of each example, if rows are of examples (ResultRequest::examples)
  std::optional<double> seconds; ///< of its last row
  std::optional<std::int64_t> parameters;
};

struct ResultRuns {
  std::vector<ResultRun> runs;          ///< in the order of their first rows
  std::vector<std::string> metrics;     ///< the metrics' names in the table
  std::vector<std::string> group_names; ///< the names of the group columns
  std::string paired_by;                ///< "seed", "seed and fold"; empty: the table has no seeds
  bool whole_seeds = false;             ///< all pairs are whole numbers
  bool has_steps = false;
  bool of_heed = false; ///< the table is a runs.csv of `heed report --format csv`
  std::string columns;  ///< what was read as what, in words
};

/// The runs of a table with a row for each run, or for each evaluation. Throws heed::Refused, with the place, for a
/// column that is missing or could be several, a cell that is no number, an empty arm or seed, and a repeated row.
ResultRuns runs_of_rows(const ResultTable& table, const ResultRequest& question);

/// Whether the table is in the wide form: the metric is no column, but the end of columns' names, "RUN - METRIC" or
/// "RUN: METRIC".
bool is_wide(const ResultTable& table, const ResultRequest& question);

/// The runs of a table in the wide form, as the charts of Weights & Biases are exported: a row for each step, and a
/// column for each run and metric. The names of the runs say arm and seed (`arm_and_seed`).
ResultRuns runs_of_wide_table(const ResultTable& table, const ResultRequest& question);

/// The arm and the seed in a run's name.
struct ArmAndSeed {
  std::string arm, seed;
};
/// By a pattern such as "{arm}-seed{seed}"; with an empty pattern, the seed is the number after the word "seed", or the
/// number at the end: "baseline-seed3", "seed=3, lr=0.1", "baseline_3". Empty if the name has another form.
std::optional<ArmAndSeed> arm_and_seed(std::string_view run, const std::string& pattern);

/// Throws heed::Refused if there are too many runs for that many metrics: each run has a list of the values of each
/// metric, also if the table has no such cell. To be called for each new run.
void require_room_for_values(const ResultTable& table, const ResultRuns& runs, const ResultRequest& question);

/// The steps at which more than half of the runs have a value of a metric, ascending. The values are sorted by step.
std::vector<std::int64_t> common_steps(const ResultRuns& runs, std::size_t metric);

/// Sorts each run's values by step. Throws heed::Refused if a run has two values of a metric at one step.
void sort_by_step(ResultRuns& runs, const ResultTable& table, const ResultRequest& question);

/// A column's name without what trackers write before it, in lower case: "seed" for "config.seed", "params.Seed" and
/// "_seed"; "val_accuracy" for "val-accuracy" and "Val Accuracy".
std::string plain_column(std::string_view name);

/// The column of this name; if there is none, the only one with the same plain name. Throws heed::Refused if several
/// have it.
/// @param option  in messages: "--metric"
std::optional<std::size_t> column_called(const ResultTable& table, const std::string& name, const std::string& option);

/// The same; throws heed::Refused with the nearest name and all columns if there is none.
std::size_t needed_column(const ResultTable& table, const std::string& name, const std::string& option);

/// What a column can be.
enum class ColumnRole { arm, seed, step, state, time, run };

/// The column that has this role by its name: "model" is the arm, "random_seed" the seed, "_step" the step. Empty if
/// there is none. Throws heed::Refused if several columns could have the role.
/// @param option  in messages: "--arm"
std::optional<std::size_t> recognised_column(const ResultTable& table, ColumnRole role, const std::string& option);

/// "lr and dataset": the columns' names.
std::string names_in_words(const ResultTable& table, const std::vector<std::size_t>& columns);

/// "its columns are 'model', 'seed', 'accuracy'", at most twenty of them.
std::string columns_in_words(const ResultTable& table);

/// The line of pandas that turns a table in which each column is an arm into one that can be read: "; if each of the
/// columns ... is an arm, ...". Empty unless, beside the seed, all columns are numbers.
/// @param metric  the name of their values
std::string hint_of_arms_as_columns(const ResultTable& table, const ResultRequest& question, const std::string& metric);

/// For polls: about how many nanoseconds a cell takes.
inline constexpr std::size_t steps_of_cell = 32;

/// The longest name of an arm, a group or a seed, in bytes.
inline constexpr std::size_t longest_name_in_cell = 300;

/// A number as from_chars reads it, with a plus sign, too; numbers beyond the range of double are infinite or 0.
std::optional<double> read_number(std::string_view text);

/// Whole numbers such as "3" and "3.0", as "3"; empty for other texts.
std::optional<std::int64_t> whole_number(std::string_view text);

/// A cell that should be a number: NaN for "nan", infinite for "inf". Empty for an empty cell, "NA", "null" and "None".
/// Throws heed::Refused for any other text.
/// @param column  its name, for the message
std::optional<double> number_of_cell(const ResultTable& table, const ResultRow& row, std::size_t column);

/// A step. Throws heed::Refused for a text that is no whole number of at least 0.
std::int64_t step_of_cell(const ResultTable& table, const ResultRow& row, std::size_t column,
                          const ResultRequest& question);

/// A text of the table that names something: an arm, a group, a seed. On one line, without control characters. Throws
/// heed::Refused if it is empty or too long.
/// @param what  "arm", "seed"
std::string name_in_cell(const ResultTable& table, const ResultRow& row, std::size_t column, const char* what);

} // namespace heed
