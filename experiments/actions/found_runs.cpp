#include "experiments/actions/found_runs.hpp"

#include "experiments/data/csv.hpp"
#include "experiments/index/run_filter.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/sweep/arm_runs.hpp"

#include <algorithm>
#include <boost/json/value_from.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>

namespace heed {

namespace {

bool is_flag(const IndexField& field) { return field.kind == IndexField::Kind::flag; }

/// The metric that most of the runs have as report.metric.
std::optional<std::string> common_metric(RunIndex& index, const std::optional<SqlPart>& where) {
  const Cell value = index.commonest_value("report.metric", where);
  const auto* name = std::get_if<std::string>(&value);
  return name ? std::optional(evaluated_metric(*name)) : std::nullopt;
}

/// The table's columns if the user names none: the options in which the runs differ, and their results.
std::vector<IndexField> usual_columns(RunIndex& index, const std::optional<SqlPart>& where) {
  constexpr std::size_t most_options = 4;
  std::vector<IndexField> out;
  const auto add = [&](std::string_view name) {
    for (const IndexField& field : index.fields())
      if (field.name == name) out.push_back(field);
  };
  for (const char* name : {"id", "name", "state", "seed"}) add(name);
  for (const IndexField& field : index.options_that_differ(where))
    if (out.size() < 4 + most_options) out.push_back(field);
  if (const auto metric = common_metric(index, where)) add(*metric);
  add("seconds");
  return out;
}

/// The index's rows. SQLite allows at most 2000 columns in a query, so larger selections use several queries.
std::vector<std::vector<Cell>> rows_of(RunIndex& index, const std::vector<IndexField>& columns,
                                       const Selection& selection) {
  constexpr std::size_t at_once = 500;
  std::vector<std::vector<Cell>> rows;
  for (std::size_t first = 0; first < columns.size(); first += at_once) {
    const std::size_t end = std::min(first + at_once, columns.size());
    auto part = index.select({columns.begin() + static_cast<std::ptrdiff_t>(first),
                              columns.begin() + static_cast<std::ptrdiff_t>(end)},
                             selection);
    rows.resize(part.size());
    for (std::size_t r = 0; r < part.size(); ++r)
      rows[r].insert(rows[r].end(), std::make_move_iterator(part[r].begin()), std::make_move_iterator(part[r].end()));
  }
  return rows;
}

} // namespace

std::vector<std::string> left_out_in_words(const std::vector<LeftOut>& left_out, const RunIndex& index) {
  std::vector<std::string> out;
  if (!index.in_memory().empty())
    out.push_back("the index can't be saved in its file, so it was built in memory: " + index.in_memory());
  if (!index.not_copied().empty())
    out.push_back(fmt::format("index.sqlite was not updated: {}; move this file away to get a new one",
                              index.not_copied()));
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const LeftOut& run : left_out) by_reason[run.reason].push_back(run.id);
  constexpr std::size_t shown = 4, shown_reasons = 20;
  std::size_t reasons = 0;
  for (const auto& [reason, ids] : by_reason) {
    if (++reasons > shown_reasons) {
      out.push_back(fmt::format("more runs are excluded, for {} other reasons (heed runs --json names all)",
                                by_reason.size() - shown_reasons));
      break;
    }
    if (ids.size() == 1) {
      out.push_back(fmt::format("run {} is excluded: {}", ids.front(), reason));
      continue;
    }
    const auto end = ids.begin() + static_cast<std::ptrdiff_t>(std::min(ids.size(), shown));
    const std::string more = ids.size() > shown
                                 ? fmt::format(" and {} more (heed runs --json names all)", ids.size() - shown)
                                 : "";
    out.push_back(fmt::format("{} runs are excluded, all for this reason: {}\n      {}{}", ids.size(), reason,
                              fmt::join(ids.begin(), end, ", "), more));
  }
  return out;
}

void add_arms(RunIndex& index, const std::filesystem::path& out,
              const std::function<void(const std::string&)>& problem) {
  constexpr std::size_t shown = 20;
  const ArmsOfRuns arms = arms_of_runs(out);
  for (std::size_t i = 0; i < std::min(shown, arms.problems.size()); ++i)
    problem(fmt::format("the arms of this sweep's runs are unknown: {}", arms.problems[i]));
  if (arms.problems.size() > shown)
    problem(fmt::format("the plans of {} more sweeps can't be read", arms.problems.size() - shown));
  index.set_arms(arms.labels);
}

bool may_name_arm(std::string_view text) { return text.find("arm") != std::string_view::npos; }

FoundRuns find_runs(RunIndex& index, const std::filesystem::path& out, const RunsRequest& question,
                    const std::function<void(const std::string&)>& problem) {
  const bool all_fields = question.columns.empty() && question.all_fields;
  if (all_fields || may_name_arm(question.where.value_or("")) || may_name_arm(question.sort) ||
      std::ranges::any_of(question.columns, may_name_arm))
    add_arms(index, out, problem);
  Selection selection;
  if (question.where) selection.where = parse_filter(*question.where, index.fields(), question.option("where"));
  if (!question.sort.empty())
    selection.sort = field_named(index.fields(), question.sort, question.option("sort") + ": ");
  selection.reverse = question.reverse;
  selection.limit = question.limit;
  FoundRuns found;
  for (const std::string& name : question.columns)
    found.columns.push_back(field_named(index.fields(), name, question.option("columns") + ": "));
  if (found.columns.empty())
    found.columns = all_fields ? index.fields_present(selection.where) : usual_columns(index, selection.where);
  found.rows = rows_of(index, found.columns, selection);
  found.left_out = index.left_out();
  found.all = index.size();
  return found;
}

boost::json::value as_json(const Cell& cell, const IndexField& field) {
  const auto* number = std::get_if<std::int64_t>(&cell);
  return number && is_flag(field) ? boost::json::value(*number != 0) : boost::json::value_from(cell);
}

std::string as_csv(const Cell& cell, const IndexField& field) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<double>(&cell)) return csv_number(*number);
  const auto* number = std::get_if<std::int64_t>(&cell);
  return !number ? "" : !is_flag(field) ? fmt::format("{}", *number) : *number != 0 ? "true" : "false";
}

std::string for_people(const Cell& cell, const IndexField& field) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  if (const auto* number = std::get_if<double>(&cell))
    return field.name == "seconds" ? duration(*number) : fmt::format("{:.6g}", *number);
  if (field.name == "parameters") return with_commas(std::get<std::int64_t>(cell));
  return as_csv(cell, field);
}

} // namespace heed
