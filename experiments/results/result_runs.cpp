#include "experiments/results/result_runs.hpp"

#include "autograd/error.hpp"
#include "experiments/results/result_examples.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <unordered_map>

namespace heed {

namespace {

constexpr std::size_t most_values = 10'000'000; // of all runs and metrics; about a gigabyte

/// The columns of a table with a row for each run or evaluation.
struct LongColumns {
  std::vector<std::size_t> metrics, arm, pair, group;
  std::optional<std::size_t> step, example, state, time, parameters, run, problem;
  bool has_pair() const { return !pair.empty(); }
};

std::vector<std::size_t> needed_columns(const ResultTable& table, const std::vector<std::string>& names,
                                        const std::string& option) {
  std::vector<std::size_t> out;
  for (const std::string& name : names) {
    poll_caller();
    const std::size_t column = needed_column(table, name, option);
    if (std::ranges::find(out, column) != out.end())
      throw Refused(fmt::format("{}: {} names the column {} twice", table.name, option, shown_text(name)));
    out.push_back(column);
  }
  return out;
}

std::vector<std::size_t> arm_columns(const ResultTable& table, const ResultRequest& question) {
  const std::string option = question.option("arm");
  if (!question.arm.empty()) return needed_columns(table, question.arm, option);
  if (const auto found = recognised_column(table, ColumnRole::arm, option)) return {*found};
  throw Refused(fmt::format(
      "{}: no column is recognised as the arm, by names such as arm, model or method; name it with {} COLUMN; {}{}",
      table.name, option, columns_in_words(table), hint_of_arms_as_columns(table, question, "metric")));
}

std::vector<std::size_t> pair_columns(const ResultTable& table, const ResultRequest& question) {
  if (!question.seed.empty() && !question.pair.empty())
    throw Refused(fmt::format("{} and {} both say which runs belong together; leave one of the two out",
                              question.option("seed"), question.option("pair")));
  if (!question.pair.empty()) return needed_columns(table, question.pair, question.option("pair"));
  if (!question.seed.empty()) return {needed_column(table, question.seed, question.option("seed"))};
  if (const auto found = recognised_column(table, ColumnRole::seed, question.option("seed"))) return {*found};
  if (question.test == "unpaired") return {};
  throw Refused(fmt::format("{}: no column is recognised as the seed, by names such as seed or trial, so nobody knows "
                            "which runs belong together; name it with {} COLUMN, or other columns with {} COLUMN, or "
                            "compare runs without pairs with {} unpaired; {}",
                            table.name, question.option("seed"), question.option("pair"), question.option("test"),
                            columns_in_words(table)));
}

std::optional<std::size_t> optional_column(const ResultTable& table, const std::string& name, const char* word,
                                           std::optional<ColumnRole> role, const ResultRequest& question) {
  const std::string option = question.option(word);
  if (name == "none") return std::nullopt;
  if (!name.empty()) return needed_column(table, name, option);
  return role ? recognised_column(table, *role, option) : std::nullopt;
}

/// Whether `heed report --format csv` wrote the table.
bool is_of_heed(const ResultTable& table) {
  constexpr std::array<std::string_view, 7> names{"arm", "seed", "run", "state", "seconds", "folder", "problem"};
  return std::ranges::all_of(names, [&](std::string_view name) {
    return std::ranges::find(table.columns, name) != table.columns.end();
  });
}

/// Refuses a column that is used as two things.
void require_different(const ResultTable& table, const LongColumns& columns) {
  std::unordered_map<std::size_t, const char*> uses;
  const auto use = [&](std::size_t column, const char* as) {
    const auto [known, is_new] = uses.emplace(column, as);
    if (!is_new)
      throw Refused(fmt::format("{}: the column {} is used as {} and as {}; a column can be one of them", table.name,
                                shown_text(table.columns[column]), known->second, as));
  };
  for (const std::size_t column : columns.metrics) use(column, "a metric");
  for (const std::size_t column : columns.arm) use(column, "the arm");
  for (const std::size_t column : columns.pair) use(column, "the seed");
  for (const std::size_t column : columns.group) use(column, "the group");
  if (columns.step) use(*columns.step, "the step");
  if (columns.example) use(*columns.example, "the example");
  if (columns.state) use(*columns.state, "the state");
  if (columns.parameters) use(*columns.parameters, "the parameters");
  if (columns.time) use(*columns.time, "the time");
}

LongColumns long_columns(const ResultTable& table, const ResultRequest& question) {
  const std::string option = question.option("metric");
  const std::string& metric = question.metrics.front();
  if (question.metrics.size() == 1 && !column_called(table, metric, option))
    if (const std::string hint = hint_of_arms_as_columns(table, question, metric); !hint.empty())
      throw Refused(fmt::format("{}: {}: no column is called {}{}", table.name, option, shown_text(metric), hint));
  LongColumns out;
  out.metrics = needed_columns(table, question.metrics, question.option("metric"));
  out.arm = arm_columns(table, question);
  out.group = needed_columns(table, question.group, question.option("group"));
  out.pair = pair_columns(table, question);
  out.step = optional_column(table, question.step, "step", ColumnRole::step, question);
  if (!question.examples.empty()) out.example = needed_column(table, question.examples, question.option("examples"));
  if (out.example && out.step)
    throw Refused(fmt::format(
        "{}: with {}, each run has one row for each example, and the column {} is read as the step: "
        "keep the rows of one step, and say {} none",
        table.name, question.option("examples"), shown_text(table.columns[*out.step]), question.option("step")));
  out.state = optional_column(table, question.state, "state", ColumnRole::state, question);
  out.time = optional_column(table, question.time, "time", ColumnRole::time, question);
  out.parameters = optional_column(table, question.parameters, "parameters", std::nullopt, question);
  if (!question.run_name.empty())
    throw Refused(fmt::format("{}: {} is for tables in the wide form, whose columns are called \"RUN - METRIC\"; this "
                              "one has a column for the metric. Name its columns with {}, {} and so on",
                              table.name, question.option("run-name"), question.option("arm"),
                              question.option("seed")));
  require_different(table, out);
  out.run = recognised_column(table, ColumnRole::run, "");
  if (out.step && out.pair.empty() && !out.run)
    throw Refused(
        fmt::format("{}: it has steps, and neither seeds nor names of runs, so nobody knows which rows are of "
                    "one run; name a column with {} COLUMN, or say {} none if each row is a run",
                    table.name, question.option("seed"), question.option("step")));
  if (is_of_heed(table)) out.problem = column_called(table, "problem", "");
  return out;
}

std::string arm_of_row(const ResultTable& table, const ResultRow& row, const LongColumns& columns) {
  if (columns.arm.size() == 1) return name_in_cell(table, row, columns.arm.front(), "arm");
  return joined(columns.arm, ", ", [&](std::size_t column) {
    return fmt::format("{} = {}", shown_name(table.columns[column]), name_in_cell(table, row, column, "arm"));
  });
}

/// Whether a row with this seed, fold or subject is made from other rows, as tables for readers have them at the end.
bool summarises(std::string_view text) {
  constexpr std::array<std::string_view, 15> words{"mean",  "average",  "avg",   "median", "std",
                                                   "stdev", "stddev",   "sd",    "se",     "sem",
                                                   "var",   "variance", "total", "sum",    "count"};
  return std::ranges::find(words, lower_case(text)) != words.end();
}

std::string pair_of_row(const ResultTable& table, const ResultRow& row, const LongColumns& columns,
                        const ResultRequest& question, bool& whole) {
  std::string out;
  for (const std::size_t column : columns.pair) {
    std::string text = name_in_cell(table, row, column, "seed");
    const std::optional<std::int64_t> number = whole_number(text);
    if (summarises(text))
      throw Refused(fmt::format("{}: the {} ({}) is {}: a row that summarises others is no run; leave such rows out",
                                table.place(row.line), question.pair.empty() ? "seed" : "pair",
                                shown_text(table.columns[column]), shown_text(text)));
    if (number) text = fmt::format("{}", *number);
    whole = whole && number;
    // "a/b" with its quotes, so that pairs of texts with slashes stay different
    if (columns.pair.size() > 1 && text.find_first_of("/\"") != std::string::npos)
      text = "\"" + replaced(text, {{'"', "\"\""}}) + "\"";
    out += (out.empty() ? "" : "/") + text;
  }
  whole = whole && columns.pair.size() == 1;
  return out;
}

std::string columns_read(const ResultTable& table, const LongColumns& columns, const ResultRuns& runs) {
  const auto named = [&](const std::vector<std::size_t>& of) { return names_in_words(table, of); };
  std::string out = fmt::format("arms by {}", named(columns.arm));
  if (!columns.group.empty()) out += fmt::format(", groups by {}", named(columns.group));
  if (columns.has_pair()) out += fmt::format(", seeds by {}", named(columns.pair));
  const auto add = [&](const char* what, std::optional<std::size_t> column) {
    if (column) out += fmt::format(", {} by {}", what, shown_text(table.columns[*column]));
  };
  add("steps", columns.step);
  add("examples", columns.example);
  add("states", columns.state);
  add("parameters", columns.parameters);
  add("seconds", columns.time);
  if (runs.has_steps) out += "; the last value of each run counts";
  return out;
}

/// Adds the rows of a table to its runs.
class LongReader {
public:
  LongReader(const ResultTable& table, const ResultRequest& question, const LongColumns& columns)
      : table_(table), question_(question), columns_(columns) {}

  void add(const ResultRow& row, ResultRuns& out) {
    std::vector<std::string> group;
    for (const std::size_t column : columns_.group) group.push_back(name_in_cell(table_, row, column, "group"));
    std::string arm = arm_of_row(table_, row, columns_);
    std::string pair = pair_of_row(table_, row, columns_, question_, whole_);
    // Without seeds, rows of one run are those that the table calls by one name; without this, each row is a run.
    std::string run = columns_.run ? std::string(table_.cell(row, *columns_.run)) : std::string();
    if (!columns_.has_pair() && (run.empty() || !columns_.step)) run = fmt::format("{} {}", table_.counted, row.line);
    const auto [known, is_new] = places_.emplace(key_of(group, arm, columns_.has_pair() ? pair : run), out.runs.size());
    if (is_new) {
      ResultRun& added = out.runs.emplace_back();
      added.arm = std::move(arm);
      added.group = std::move(group);
      added.pair = std::move(pair);
      added.id = run.empty() ? fmt::format("{} {}", table_.counted, row.line) : shown_name(run);
      if (added.id.size() > longest_name_in_cell) added.id = fmt::format("{} {}", table_.counted, row.line);
      added.line = row.line;
      require_room_for_values(table_, out, question_);
      added.values.resize(columns_.metrics.size());
      added.holes.assign(columns_.metrics.size(), -1);
      names_.push_back(columns_.run ? std::string(table_.cell(row, *columns_.run)) : std::string());
    } else if (!columns_.step && !columns_.example) {
      refuse_repeated(row, out.runs[known->second]);
    } else if (columns_.run) {
      const bool is_same = table_.cell(row, *columns_.run) == names_[known->second];
      names_are_of_runs_ = names_are_of_runs_ || is_same;
      if (!is_same && !second_run_) second_run_ = {&row, known->second};
    }
    take_values(row, out.runs[known->second]);
    run_of_row_.push_back(known->second);
  }

  /// Refuses rows of two runs that have one arm and one seed, once all rows are there. Names that differ in all rows
  /// are numbers of rows, and say nothing.
  void require_one_run_each(const ResultRuns& out) const {
    if (!second_run_ || !names_are_of_runs_) return;
    const auto& [row, place] = *second_run_;
    refuse_second_run(*row, names_[place], out.runs[place]);
  }

  /// Fills in ResultRun::holes, once all rows are there and sorted.
  void find_holes(ResultRuns& out) const {
    PolledWork work;
    for (std::size_t m = 0; columns_.step && m < columns_.metrics.size(); ++m) {
      const std::vector<std::int64_t> steps = common_steps(out, m);
      for (std::size_t i = 0; i < table_.rows.size(); ++i) {
        work.did(steps_of_cell);
        const ResultRow& row = table_.rows[i];
        if (steps.empty() || number_of_cell(table_, row, columns_.metrics[m])) continue;
        ResultRun& run = out.runs[run_of_row_[i]];
        const std::int64_t step = step_of_cell(table_, row, *columns_.step, question_);
        if (!run.values[m].empty() && run.values[m].back().step > step) continue;
        if (!std::ranges::binary_search(steps, step)) continue;
        run.holes[m] = run.holes[m] < 0 ? step : std::min(run.holes[m], step);
      }
    }
  }

  /// The means over examples, once all rows are there.
  void collapse_examples(ResultRuns& out) const {
    if (columns_.example) examples_.collapse(out, table_, question_);
  }

  bool whole() const { return whole_ && columns_.has_pair(); }

private:
  static std::string key_of(const std::vector<std::string>& group, const std::string& arm, const std::string& pair) {
    std::string key;
    for (const std::string& part : group) key += fmt::format("{}:{}", part.size(), part);
    return key + fmt::format("{}:{}{}", arm.size(), arm, pair);
  }

  [[noreturn]] void refuse_repeated(const ResultRow& row, const ResultRun& first) const {
    throw Refused(fmt::format(
        "{}: {} has a row for the {} {} already, at {} {}; give each run a seed of its own, or name what else tells "
        "runs apart: {} for evaluations of one run, {} for its examples, {} for comparisons within groups, {} for "
        "further columns",
        table_.place(row.line), shown_text(first.arm), columns_.pair.size() == 1 ? "seed" : "pair", first.pair,
        table_.counted, first.line, question_.option("step"), question_.option("examples"), question_.option("group"),
        question_.option("pair")));
  }

  [[noreturn]] void refuse_second_run(const ResultRow& row, const std::string& first_name,
                                      const ResultRun& first) const {
    const std::string column = shown_text(table_.columns[*columns_.run]);
    throw Refused(fmt::format("{}: {}, {} {}, has rows of two runs by {}: {} (first at {} {}) and {}. Leave out the "
                              "rows of one; if they are one "
                              "run that was continued, leave out the column {}",
                              table_.place(row.line), shown_text(first.arm),
                              columns_.pair.size() == 1 ? "seed" : "pair", first.pair, column, shown_text(first_name),
                              table_.counted, first.line, shown_text(table_.cell(row, *columns_.run)), column));
  }

  void take_values(const ResultRow& row, ResultRun& run) {
    const std::int64_t step = columns_.example ? examples_.of(table_, row, *columns_.example)
                              : columns_.step  ? step_of_cell(table_, row, *columns_.step, question_)
                                               : 0;
    for (std::size_t m = 0; m < columns_.metrics.size(); ++m)
      if (const auto value = number_of_cell(table_, row, columns_.metrics[m]))
        run.values[m].push_back({step, row.line, *value});
    if (step >= run.last_step) {
      run.last_step = step;
      if (columns_.state) run.state = lower_case(table_.cell(row, *columns_.state));
      if (columns_.problem) run.problem = table_.cell(row, *columns_.problem);
    }
    if (columns_.time)
      if (const auto seconds = number_of_cell(table_, row, *columns_.time)) take_seconds(row, *seconds, run);
    if (columns_.parameters) take_parameters(row, run);
  }

  void take_seconds(const ResultRow& row, double seconds, ResultRun& run) const {
    if (!std::isfinite(seconds)) return; // of a run that failed
    if (seconds < 0)
      throw Refused(fmt::format("{}: the time ({}) is {:g}; it must be seconds, at least 0", table_.place(row.line),
                                shown_text(table_.columns[*columns_.time]), seconds));
    run.seconds = std::max(run.seconds.value_or(0), seconds);
  }

  void take_parameters(const ResultRow& row, ResultRun& run) const {
    const std::string_view cell = table_.cell(row, *columns_.parameters);
    if (cell.empty()) return;
    const std::optional<std::int64_t> count = whole_number(cell);
    if (!count || *count < 1)
      throw Refused(fmt::format("{}: the number of parameters ({}) is {}; it must be a whole number, at least 1",
                                table_.place(row.line), shown_text(table_.columns[*columns_.parameters]),
                                shown_text(cell)));
    if (run.parameters && *run.parameters != *count)
      throw Refused(fmt::format("{}: the run has {} parameters here, and {} before; a run has one number of them",
                                table_.place(row.line), *count, *run.parameters));
    run.parameters = count;
  }

  const ResultTable& table_;
  const ResultRequest& question_;
  const LongColumns& columns_;
  bool whole_ = true;
  std::unordered_map<std::string, std::size_t> places_;
  ExampleNumbers examples_;
  std::vector<std::string> names_;                                     ///< of each run, in the column of runs
  bool names_are_of_runs_ = false;                                     ///< whether two rows of a run have one name
  std::optional<std::pair<const ResultRow*, std::size_t>> second_run_; ///< the first row with another name than its run
  std::vector<std::size_t> run_of_row_;                                ///< of each row, its run
};

} // namespace

void require_room_for_values(const ResultTable& table, const ResultRuns& runs, const ResultRequest& question) {
  const std::size_t metrics = question.metrics.size();
  if (metrics == 1 || runs.runs.size() <= most_values / metrics) return;
  throw Refused(fmt::format("{}: there are {} metrics for {} runs and more; at most {} million values are compared "
                            "together. Name fewer metrics with {}, and the others in a second report",
                            table.name, metrics, runs.runs.size(), most_values / 1'000'000, question.option("metric")));
}

std::vector<std::int64_t> common_steps(const ResultRuns& runs, std::size_t metric) {
  std::vector<std::int64_t> all, out;
  for (const ResultRun& run : runs.runs)
    for (const ResultValue& value : run.values[metric]) all.push_back(value.step);
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i;
    while (end < all.size() && all[end] == all[i]) ++end;
    if (2 * (end - i) > runs.runs.size()) out.push_back(all[i]);
    i = end;
  }
  return out;
}

void sort_by_step(ResultRuns& runs, const ResultTable& table, const ResultRequest& question) {
  PolledWork work;
  for (ResultRun& run : runs.runs)
    for (std::size_t m = 0; m < run.values.size(); ++m) {
      std::vector<ResultValue>& values = run.values[m];
      work.did(steps_of_cell * values.size());
      if (!std::ranges::is_sorted(values, {}, &ResultValue::step))
        std::ranges::stable_sort(values, {}, &ResultValue::step);
      const auto twice = std::ranges::adjacent_find(values, {}, &ResultValue::step);
      if (twice == values.end()) continue;
      throw Refused(fmt::format("{}: {}{} has a value of {} at step {} already, at {} {}; a run has one value at a "
                                "step. If these are different runs, name what tells them apart: {}, {} or {}",
                                table.place((twice + 1)->line), shown_text(run.arm),
                                run.pair.empty() ? "" : fmt::format(", seed {},", run.pair), runs.metrics[m],
                                twice->step, table.counted, twice->line, question.option("arm"),
                                question.option("pair"), question.option("group")));
    }
}

ResultRuns runs_of_rows(const ResultTable& table, const ResultRequest& question) {
  const LongColumns columns = long_columns(table, question);
  ResultRuns out;
  for (const std::size_t column : columns.metrics) out.metrics.push_back(table.columns[column]);
  for (const std::size_t column : columns.group) out.group_names.push_back(shown_name(table.columns[column]));
  out.has_steps = columns.step.has_value();
  out.of_heed = is_of_heed(table);
  LongReader reader(table, question, columns);
  PolledWork work;
  for (const ResultRow& row : table.rows) {
    work.did(steps_of_cell * (10 + columns.metrics.size()));
    reader.add(row, out);
  }
  reader.require_one_run_each(out);
  out.whole_seeds = reader.whole();
  out.paired_by = columns.pair.size() == 1 && question.pair.empty()
                      ? "seed"
                      : joined(columns.pair, " and ",
                               [&](std::size_t column) { return shown_name(table.columns[column]); });
  out.columns = columns_read(table, columns, out);
  reader.collapse_examples(out);
  sort_by_step(out, table, question);
  reader.find_holes(out);
  return out;
}

} // namespace heed
