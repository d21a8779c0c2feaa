// Tables in the wide form: a column for each run and metric.
#include "experiments/results/result_runs.hpp"

#include "autograd/error.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// A column "RUN - METRIC" or "RUN: METRIC".
struct WideColumn {
  std::string run;
  std::size_t column = 0;
};

/// The run of a column of the metric; empty if it is a column of something else, such as "RUN - METRIC__MIN".
std::string run_of_column(std::string_view column, std::string_view metric) {
  for (const std::string_view between : {std::string_view(" - "), std::string_view(": ")}) {
    if (!column.ends_with(metric)) continue;
    const std::string_view before = column.substr(0, column.size() - metric.size());
    if (before.ends_with(between) && before.size() > between.size())
      return std::string(trimmed(before.substr(0, before.size() - between.size())));
  }
  return "";
}

std::vector<WideColumn> columns_of_metric(const ResultTable& table, const std::string& metric) {
  std::vector<WideColumn> out;
  for (std::size_t i = 0; i < table.columns.size() && !metric.empty(); ++i)
    if (std::string run = run_of_column(table.columns[i], metric); !run.empty()) out.push_back({std::move(run), i});
  return out;
}

bool is_separator(char c) { return std::string_view(" -_=:/.,()[]#").find(c) != std::string_view::npos; }

std::string_view without_separators(std::string_view text) {
  while (!text.empty() && is_separator(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_separator(text.back())) text.remove_suffix(1);
  return text;
}

/// "baseline-seed3", "seed=3, lr=0.1": the number after the word "seed".
std::optional<ArmAndSeed> by_the_word(std::string_view run) {
  std::string lower(run);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (std::size_t at = lower.rfind("seed"); at != std::string::npos;
       at = at == 0 ? std::string::npos : lower.rfind("seed", at - 1)) {
    std::size_t begin = at + 4;
    while (begin < run.size() && is_separator(run[begin])) ++begin;
    std::size_t end = begin;
    while (end < run.size() && is_digit(run[end])) ++end;
    if (end == begin) continue;
    const std::string_view before = without_separators(run.substr(0, at)), after = without_separators(run.substr(end));
    std::string arm(before);
    if (!before.empty() && !after.empty()) arm += ", ";
    arm += after;
    return ArmAndSeed{std::move(arm), std::string(run.substr(begin, end - begin))};
  }
  return std::nullopt;
}

/// "baseline-3", "baseline_s3": the number at the end.
std::optional<ArmAndSeed> by_the_end(std::string_view run) {
  std::size_t begin = run.size();
  while (begin > 0 && is_digit(run[begin - 1])) --begin;
  if (begin == run.size() || begin == 0) return std::nullopt;
  std::string_view before = run.substr(0, begin);
  if (before.size() > 1 && before.back() == 's' && is_separator(before[before.size() - 2])) before.remove_suffix(1);
  if (!is_separator(before.back()) || before.back() == '.') return std::nullopt; // "lr=0.1" has no seed
  return ArmAndSeed{std::string(without_separators(before)), std::string(run.substr(begin))};
}

std::optional<ArmAndSeed> by_pattern(std::string_view run, const std::string& pattern) {
  constexpr std::string_view arm = "{arm}", seed = "{seed}";
  const std::size_t of_arm = pattern.find(arm), of_seed = pattern.find(seed);
  const bool arm_first = of_arm < of_seed;
  const std::string_view first = arm_first ? arm : seed, second = arm_first ? seed : arm;
  const std::size_t begin = std::min(of_arm, of_seed), then = std::max(of_arm, of_seed);
  const std::string_view before = std::string_view(pattern).substr(0, begin),
                         middle = std::string_view(pattern).substr(begin + first.size(), then - begin - first.size()),
                         after = std::string_view(pattern).substr(then + second.size());
  if (run.size() < before.size() + after.size() || !run.starts_with(before) || !run.ends_with(after))
    return std::nullopt;
  const std::string_view rest = run.substr(before.size(), run.size() - before.size() - after.size());
  const std::size_t at = arm_first ? rest.rfind(middle) : rest.find(middle);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string a(trimmed(rest.substr(0, at))), b(trimmed(rest.substr(at + middle.size())));
  if (a.empty() || b.empty()) return std::nullopt;
  return arm_first ? ArmAndSeed{a, b} : ArmAndSeed{b, a};
}

void require_pattern(const ResultRequest& question) {
  const std::string& pattern = question.run_name;
  const std::size_t arm = pattern.find("{arm}"), seed = pattern.find("{seed}");
  if (arm == std::string::npos || seed == std::string::npos || pattern.find("{arm}", arm + 1) != std::string::npos ||
      pattern.find("{seed}", seed + 1) != std::string::npos)
    throw Refused(fmt::format("{} {}: it must have {{arm}} and {{seed}}, each once, as in \"{{arm}}-seed{{seed}}\"",
                              question.option("run-name"), shown_text(pattern)));
  const std::size_t end = arm < seed ? arm + 5 : seed + 6;
  if (end == std::max(arm, seed))
    throw Refused(fmt::format(
        "{} {}: between {{arm}} and {{seed}} must be a text that tells where one ends, as in \"{{arm}}-seed{{seed}}\"",
        question.option("run-name"), shown_text(pattern)));
}

/// Refuses options that name columns, which a wide table does not have.
void require_no_columns(const ResultTable& table, const ResultRequest& question) {
  const std::array<std::pair<const char*, bool>, 8> given{{{"arm", !question.arm.empty()},
                                                           {"seed", !question.seed.empty()},
                                                           {"pair", !question.pair.empty()},
                                                           {"group", !question.group.empty()},
                                                           {"examples", !question.examples.empty()},
                                                           {"state", !question.state.empty()},
                                                           {"time", !question.time.empty()},
                                                           {"parameters", !question.parameters.empty()}}};
  for (const auto& [word, is_given] : given)
    if (is_given)
      throw Refused(
          fmt::format("{}: {} does nothing here: the table is in the wide form, a column \"RUN - METRIC\" for "
                      "each run. The runs' names say arm and seed: {} PATTERN, such as "
                      "\"{{arm}}-seed{{seed}}\"",
                      table.name, question.option(word), question.option("run-name")));
}

std::optional<std::size_t> wide_step(const ResultTable& table, const ResultRequest& question) {
  const std::string option = question.option("step");
  const auto found = question.step == "none"  ? std::nullopt
                     : !question.step.empty() ? std::optional(needed_column(table, question.step, option))
                                              : recognised_column(table, ColumnRole::step, option);
  if (!found && table.rows.size() > 1)
    throw Refused(fmt::format(
        "{}: the table has several rows, and no column is recognised as the step; name it with {} COLUMN; {}",
        table.name, option, columns_in_words(table)));
  return found;
}

ArmAndSeed needed_arm_and_seed(const ResultTable& table, const ResultRequest& question, const std::string& run) {
  constexpr std::size_t longest = 300;
  if (run.size() > longest)
    throw Refused(fmt::format("{}: the name of a run has {} bytes, {}; at most {} are allowed", table.name, run.size(),
                              shown_text(run), longest));
  if (auto found = arm_and_seed(run, question.run_name); found && !found->arm.empty()) return *found;
  const std::string option = question.option("run-name");
  throw Refused(
      question.run_name.empty()
          ? fmt::format("{}: the run {} has no arm and seed in its name, as \"baseline-seed3\" has; say where "
                        "they stand with {} PATTERN, such as \"{{arm}}-seed{{seed}}\"",
                        table.name, shown_text(run), option)
          : fmt::format("{}: the run {} does not have the form of {} {}", table.name, shown_text(run), option,
                        shown_text(question.run_name)));
}

/// If each run is an arm of its own, the numbers at the ends of names are no seeds.
void require_several_seeds(const ResultTable& table, const ResultRequest& question, const ResultRuns& runs) {
  std::map<std::string, std::size_t> counts;
  for (const ResultRun& run : runs.runs) ++counts[run.arm];
  if (!question.run_name.empty() || runs.runs.size() <= 2 || counts.size() < runs.runs.size()) return;
  throw Refused(fmt::format("{}: by their names ({}, {}, ...), each of the {} runs is an arm of its own; say where arm "
                            "and seed stand with {} PATTERN, such as \"{{arm}}-seed{{seed}}\"",
                            table.name, shown_text(runs.runs[0].id), shown_text(runs.runs[1].id), runs.runs.size(),
                            question.option("run-name")));
}

} // namespace

std::optional<ArmAndSeed> arm_and_seed(std::string_view run, const std::string& pattern) {
  if (!pattern.empty()) return by_pattern(run, pattern);
  auto found = by_the_word(run);
  return found ? found : by_the_end(run);
}

bool is_wide(const ResultTable& table, const ResultRequest& question) {
  const std::string& metric = question.metrics.front();
  return !column_called(table, metric, question.option("metric")) && !columns_of_metric(table, metric).empty();
}

ResultRuns runs_of_wide_table(const ResultTable& table, const ResultRequest& question) {
  require_no_columns(table, question);
  if (!question.run_name.empty()) require_pattern(question);
  ResultRuns out;
  out.metrics = question.metrics;
  out.paired_by = "seed";
  const std::optional<std::size_t> step = wide_step(table, question);
  out.has_steps = step.has_value();
  out.columns = fmt::format("arms and seeds by the runs' names{}{}",
                            step ? fmt::format(", steps by {}", shown_text(table.columns[*step])) : "",
                            step ? "; the last value of each run counts" : "");
  std::unordered_map<std::string, std::size_t> places;
  std::unordered_map<std::size_t, std::vector<std::pair<std::size_t, std::size_t>>> takes; // by column: run and metric
  std::map<std::pair<std::string, std::string>, std::string> known;
  out.whole_seeds = true;
  for (std::size_t m = 0; m < question.metrics.size(); ++m) {
    poll_caller();
    const std::vector<WideColumn> columns = columns_of_metric(table, question.metrics[m]);
    if (columns.empty())
      throw Refused(fmt::format("{}: {}: no column is called \"RUN - {}\"; {}", table.name, question.option("metric"),
                                question.metrics[m], columns_in_words(table)));
    for (const WideColumn& column : columns) {
      const auto [place, is_new] = places.emplace(column.run, out.runs.size());
      if (is_new) {
        const ArmAndSeed named = needed_arm_and_seed(table, question, column.run);
        ResultRun& run = out.runs.emplace_back();
        run.arm = shown_name(named.arm);
        const std::optional<std::int64_t> number = whole_number(named.seed);
        run.pair = number ? fmt::format("{}", *number) : shown_name(named.seed);
        out.whole_seeds = out.whole_seeds && number;
        run.id = shown_name(column.run);
        run.line = 1;
        run.values.resize(question.metrics.size());
        run.holes.assign(question.metrics.size(), -1);
        require_room_for_values(table, out, question);
        const auto [first, is_first] = known.emplace(std::pair(run.arm, run.pair), run.id);
        if (!is_first)
          throw Refused(
              fmt::format("{}: the runs {} and {} are both seed {} of {}; say where arm and seed stand with {} PATTERN",
                          table.name, shown_text(first->second), shown_text(run.id), run.pair, shown_text(run.arm),
                          question.option("run-name")));
      }
      takes[column.column].emplace_back(place->second, m);
    }
  }
  PolledWork work;
  for (const ResultRow& row : table.rows) {
    std::optional<std::int64_t> at; // read only in rows that have a value
    for (const ResultCell& cell : table.cells(row)) {
      work.did(steps_of_cell);
      const auto found = takes.find(cell.column);
      if (found == takes.end()) continue;
      const auto value = number_of_cell(table, row, cell.column);
      if (!value) continue;
      if (!at) at = step ? step_of_cell(table, row, *step, question) : 0;
      for (const auto& [run, m] : found->second) out.runs[run].values[m].push_back({*at, row.line, *value});
    }
  }
  require_several_seeds(table, question, out);
  sort_by_step(out, table, question);
  for (std::size_t m = 0; out.has_steps && m < out.metrics.size(); ++m) {
    const std::vector<std::int64_t> steps = common_steps(out, m);
    for (ResultRun& run : out.runs) {
      const auto hole = std::ranges::upper_bound(steps, run.values[m].empty() ? -1 : run.values[m].back().step);
      if (hole != steps.end()) run.holes[m] = *hole;
    }
  }
  return out;
}

} // namespace heed
