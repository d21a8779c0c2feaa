#include "experiments/data/csv.hpp"

#include "experiments/config/values.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace heed {

namespace {

/// True if a spreadsheet would interpret the cell as a formula. A number is not a formula. The last four characters are
/// the full-width forms of the first four.
bool is_formula(std::string_view text) {
  constexpr std::array begins{"=", "+", "-", "@", "\t", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  if (std::ranges::none_of(begins, [&](const char* begin) { return text.starts_with(begin); })) return false;
  double number = 0;
  const char* end = text.data() + text.size();
  return std::from_chars(text.data() + (text[0] == '+' ? 1 : 0), end, number).ptr != end || text.size() == 1;
}

} // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  return "\"" + replaced(text, {{'"', "\"\""}}) + "\"";
}

std::string csv_line(const std::vector<std::string>& cells, std::string_view end) {
  return joined(cells, ",", csv_cell).append(end);
}

std::string sheet_line(std::vector<std::string> cells, std::string_view end) {
  for (std::string& cell : cells) {
    cell = without_controls(cell);
    if (is_formula(cell)) cell.insert(0, "'");
  }
  return csv_line(cells, end);
}

std::string tsv_cell(std::string_view text) {
  return replaced(text, {{'\\', "\\\\"}, {'\n', "\\n"}, {'\r', "\\r"}, {'\t', "\\t"}});
}

std::string csv_number(double value) { return fmt::format("{}", value); }

} // namespace heed
