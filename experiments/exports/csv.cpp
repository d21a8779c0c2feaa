#include "experiments/exports/csv.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace heed {

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
  std::string out;
  for (std::size_t i = 0; i < cells.size(); ++i) out += (i ? "," : "") + csv_cell(cells[i]);
  return out + "\n";
}

std::string csv_number(double value) { return fmt::format("{}", value); }

std::string metrics_csv(const std::vector<Metrics>& metrics) {
  std::vector<std::string> headings{"step", "seconds", "tokens"};
  std::map<std::string, std::size_t> places;
  for (const Metrics& line : metrics)
    for (const auto& [name, value] : line.values)
      if (places.try_emplace(name, headings.size()).second) headings.push_back(name);
  std::string out = csv_line(headings);
  for (const Metrics& line : metrics) {
    std::vector<std::string> cells(headings.size());
    cells[0] = fmt::format("{}", line.step);
    cells[1] = csv_number(line.seconds);
    cells[2] = fmt::format("{}", line.tokens);
    for (const auto& [name, value] : line.values) cells[places.at(name)] = csv_number(value);
    out += csv_line(cells);
  }
  return out;
}

} // namespace heed
