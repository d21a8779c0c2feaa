#include "experiments/exports/metrics_csv.hpp"

#include "experiments/data/csv.hpp"

#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

namespace heed {

void metrics_csv(const EachMetrics& each, const std::function<void(std::string_view)>& write) {
  std::vector<std::string> headings{"step", "seconds", "tokens"};
  std::map<std::string, std::size_t> places;
  each([&](const MetricsRecord& line) {
    for (const auto& [name, value] : line.values)
      if (places.try_emplace(name, headings.size()).second) headings.push_back(name);
  });
  write(sheet_line(headings));
  each([&](const MetricsRecord& line) {
    std::vector<std::string> cells(headings.size());
    cells[0] = fmt::format("{}", line.step);
    cells[1] = csv_number(line.seconds);
    cells[2] = fmt::format("{}", line.tokens);
    for (const auto& [name, value] : line.values)
      if (const auto place = places.find(name); place != places.end()) cells[place->second] = csv_number(value);
    write(sheet_line(cells));
  });
}

} // namespace heed
