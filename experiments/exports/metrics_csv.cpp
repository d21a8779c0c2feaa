#include "experiments/exports/metrics_csv.hpp"

#include "experiments/data/csv.hpp"

#include <fmt/format.h>
#include <map>

namespace heed {

std::string metrics_csv(const std::vector<Metrics>& metrics) {
  std::vector<std::string> headings{"step", "seconds", "tokens"};
  std::map<std::string, std::size_t> places;
  for (const Metrics& line : metrics)
    for (const auto& [name, value] : line.values)
      if (places.try_emplace(name, headings.size()).second) headings.push_back(name);
  std::string out = sheet_line(headings);
  for (const Metrics& line : metrics) {
    std::vector<std::string> cells(headings.size());
    cells[0] = fmt::format("{}", line.step);
    cells[1] = csv_number(line.seconds);
    cells[2] = fmt::format("{}", line.tokens);
    for (const auto& [name, value] : line.values) cells[places.at(name)] = csv_number(value);
    out += sheet_line(cells);
  }
  return out;
}

} // namespace heed
