// Collects the runs of a table of results: which arm, group and seed each one has, and its values.
#pragma once

#include "experiments/results/result_columns.hpp"
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

} // namespace heed
