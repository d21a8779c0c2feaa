// Finds the columns of a table of results by the names that people and trackers give them, and reads their cells:
// numbers, whole numbers, steps and names.
#include "experiments/results/result_runs.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <boost/describe/enum.hpp>
#include <boost/describe/enum_to_string.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <system_error>

namespace heed {

BOOST_DESCRIBE_ENUM(ColumnRole, arm, seed, step, state, time, run)

namespace {

using namespace std::string_view_literals;

/// The plain names of a role's columns. The first decides by itself; of the others, one at most may occur, unless
/// `in_order`: then an earlier name decides before a later one.
struct RoleNames {
  ColumnRole role;
  std::vector<std::string_view> names;
  bool in_order = false;
};

const RoleNames& names_of(ColumnRole role) {
  static const std::array<RoleNames, 6> all{
      RoleNames{ColumnRole::arm,
                {"arm"sv, "model"sv, "method"sv, "variant"sv, "algorithm"sv, "algo"sv, "approach"sv, "condition"sv,
                 "treatment"sv, "system"sv, "model_name"sv, "architecture"sv, "arch"sv}},
      RoleNames{ColumnRole::seed,
                {"seed"sv, "random_seed"sv, "rng_seed"sv, "random_state"sv, "trial"sv, "replicate"sv, "repeat"sv,
                 "repetition"sv}},
      RoleNames{
          ColumnRole::step,
          {"step"sv, "global_step"sv, "steps"sv, "training_step"sv, "train_step"sv, "iteration"sv, "iter"sv, "epoch"sv},
          true},
      RoleNames{ColumnRole::state, {"state"sv, "status"sv}, true},
      RoleNames{ColumnRole::time, {"seconds"sv, "runtime"sv}, true},
      RoleNames{ColumnRole::run, {"run"sv, "run_id"sv, "run_name"sv, "id"sv, "name"sv}, true}};
  return *std::ranges::find(all, role, &RoleNames::role);
}

std::vector<std::string> named_columns(const ResultTable& table) {
  std::vector<std::string> out;
  for (const std::string& column : table.columns)
    if (!column.empty()) out.push_back(column);
  return out;
}

std::vector<std::size_t> with_plain_name(const ResultTable& table, std::string_view plain) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    if (!table.columns[i].empty() && plain_column(table.columns[i]) == plain) out.push_back(i);
  return out;
}

std::string_view hint_for(std::string_view text) {
  if (text.ends_with('%') && read_number(text.substr(0, text.size() - 1))) return "; write per cent without the sign";
  if (const std::size_t comma = text.find(','); comma != std::string_view::npos) {
    std::string without(text);
    std::erase(without, ',');
    if (read_number(without)) return "; write 0.5 and 1000, not 0,5 and 1,000";
  }
  return "";
}

} // namespace

std::string plain_column(std::string_view name) {
  static constexpr std::array before{"config."sv,     "config/"sv,  "params."sv,  "params/"sv,
                                     "parameters."sv, "hparams."sv, "hparams/"sv, "metrics."sv,
                                     "metrics/"sv,    "summary."sv, "summary/"sv, "hyperparams."sv};
  std::string out = replaced(lower_case(name), {{' ', "_"}, {'-', "_"}});
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view word : before)
      if (out.starts_with(word) && out.size() > word.size()) {
        out.erase(0, word.size());
        found = true;
      }
  }
  if (const std::size_t letters = out.find_first_not_of('_'); letters != std::string::npos) out.erase(0, letters);
  return out;
}

std::string names_in_words(const ResultTable& table, const std::vector<std::size_t>& columns) {
  return joined(columns, " and ", [&](std::size_t column) { return shown_text(table.columns[column]); });
}

std::string columns_in_words(const ResultTable& table) {
  constexpr std::size_t most = 20;
  std::vector<std::string> names = named_columns(table);
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  for (std::string& name : names) name = shown_text(name);
  return fmt::format("its columns are {}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(", and {} more", more) : "");
}

std::optional<std::size_t> column_called(const ResultTable& table, const std::string& name, const std::string& option) {
  const auto exact = std::ranges::find(table.columns, name);
  if (exact != table.columns.end() && !name.empty()) return static_cast<std::size_t>(exact - table.columns.begin());
  const std::vector<std::size_t> alike = with_plain_name(table, plain_column(name));
  if (alike.size() > 1)
    throw Refused(fmt::format("{}: {} {} can be {}; write the column's whole name", table.name, option,
                              shown_text(name), names_in_words(table, alike)));
  return alike.empty() ? std::nullopt : std::optional(alike.front());
}

std::size_t needed_column(const ResultTable& table, const std::string& name, const std::string& option) {
  if (const auto found = column_called(table, name, option)) return *found;
  throw Refused(fmt::format("{}: {}: no column is called {}{}; {}", table.name, option, shown_text(name),
                            did_you_mean(name, named_columns(table)), columns_in_words(table)));
}

std::optional<std::size_t> recognised_column(const ResultTable& table, ColumnRole role, const std::string& option) {
  const RoleNames& names = names_of(role);
  std::vector<std::size_t> found;
  for (const std::string_view name : names.names) {
    const std::vector<std::size_t> alike = with_plain_name(table, name);
    found.insert(found.end(), alike.begin(), alike.end());
    if (!found.empty() && (names.in_order || name == names.names.front())) break;
  }
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found.front();
  // Of "step" and "_step", the one that is written so decides.
  for (const std::size_t column : found)
    if (table.columns[column] == names.names.front()) return column;
  if (names.in_order) return found.front();
  throw Refused(fmt::format("{}: the {} can be {}; choose one with {} COLUMN", table.name,
                            boost::describe::enum_to_string(role, ""), names_in_words(table, found), option));
}

std::string hint_of_arms_as_columns(const ResultTable& table, const ResultRequest& question,
                                    const std::string& metric) {
  const std::optional<std::size_t> seed = question.seed.empty()
                                              ? recognised_column(table, ColumnRole::seed, question.option("seed"))
                                              : column_called(table, question.seed, question.option("seed"));
  if (!seed || table.columns.size() < 3) return "";
  std::vector<std::string> arms;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (i == *seed) continue;
    arms.push_back(shown_text(table.columns[i]));
    PolledWork work;
    for (const ResultRow& row : table.rows) {
      work.did(steps_of_cell);
      const std::string_view cell = table.cell(row, i);
      if (!cell.empty() && !read_number(cell)) return "";
    }
  }
  constexpr std::size_t most = 5;
  const std::size_t more = arms.size() - std::min(arms.size(), most);
  arms.resize(arms.size() - more);
  return fmt::format("; if each of the columns {}{} is an arm, write a row for each run instead, in pandas: "
                     "table.melt(\"{}\", var_name=\"arm\", value_name=\"{}\").to_csv(\"long.csv\", index=False)",
                     fmt::join(arms, ", "), more > 0 ? fmt::format(" and {} more", more) : "",
                     shown_name(table.columns[*seed]), shown_name(metric));
}

std::optional<double> read_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.starts_with('+')) return std::nullopt;
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  return error == std::errc::result_out_of_range ? std::strtod(std::string(text).c_str(), nullptr) : value;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (const auto whole = number_of<std::int64_t>(text)) return whole;
  const std::optional<double> number = read_number(text);
  if (!number || !std::isfinite(*number) || std::abs(*number) > static_cast<double>(largest_seed) ||
      *number != std::trunc(*number))
    return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<double> number_of_cell(const ResultTable& table, const ResultRow& row, std::size_t column) {
  const std::string_view cell = table.cell(row, column);
  if (cell.empty()) return std::nullopt;
  if (const std::optional<double> number = read_number(cell)) return number;
  const std::string word = lower_case(cell);
  for (const std::string_view empty : {"na", "n/a", "null", "none", "-"})
    if (word == empty) return std::nullopt;
  throw Refused(fmt::format("{}: {} is {}, and must be a number (nan, inf or nothing for a run that failed){}",
                            table.place(row.line), shown_text(table.columns[column]), shown_text(cell),
                            hint_for(cell)));
}

std::int64_t step_of_cell(const ResultTable& table, const ResultRow& row, std::size_t column,
                          const ResultRequest& question) {
  const std::string_view cell = table.cell(row, column);
  const std::optional<std::int64_t> step = whole_number(cell);
  if (step && *step >= 0) return *step;
  throw Refused(fmt::format("{}: the step ({}) is {}, and must be a whole number, at least 0; {} COLUMN names another "
                            "column, and {} none says that there are no steps",
                            table.place(row.line), shown_text(table.columns[column]),
                            cell.empty() ? "empty" : shown_text(cell), question.option("step"),
                            question.option("step")));
}

std::string name_in_cell(const ResultTable& table, const ResultRow& row, std::size_t column, const char* what) {
  const std::string_view cell = table.cell(row, column);
  if (cell.empty())
    throw Refused(fmt::format("{}: the {} ({}) is empty; each row must have one", table.place(row.line), what,
                              shown_text(table.columns[column])));
  if (cell.size() > longest_name_in_cell)
    throw Refused(fmt::format("{}: the {} has {} bytes, {}; at most {} are allowed", table.place(row.line), what,
                              cell.size(), shown_text(cell), longest_name_in_cell));
  return shown_name(cell);
}

} // namespace heed
