#include "experiments/results/result_cells.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/results/result_columns.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <system_error>

namespace heed {

namespace {

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

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
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
  std::int64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc() && end == text.data() + text.size()) return whole;
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
