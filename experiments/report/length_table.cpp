#include "experiments/report/length_table.hpp"

#include "experiments/metrics/lengths.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/numbers.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <vector>

namespace heed {

TextTable length_table(const ReportData& report, const std::string& metric) {
  constexpr std::size_t most_columns = 8;
  std::set<std::int64_t> measured, shown;
  std::vector<std::vector<BandPoint>> bands;
  for (const ReportArm& arm : report.arms) {
    bands.push_back(length_band(arm, metric));
    for (const BandPoint& point : bands.back()) measured.insert(point.at);
  }
  const std::vector<std::int64_t> all(measured.begin(), measured.end());
  const std::size_t columns = std::min(most_columns, all.size());
  for (std::size_t i = 0; i < columns; ++i) shown.insert(all[columns == 1 ? 0 : i * (all.size() - 1) / (columns - 1)]);

  TextTable table{{"arm"}, {Align::left}, {}};
  for (const std::int64_t length : shown) {
    table.headings.push_back(fmt::format("{}", length));
    table.alignment.push_back(Align::right);
  }
  for (std::size_t a = 0; a < bands.size(); ++a) {
    std::vector<std::string> row{report.arms[a].label};
    for (const std::int64_t length : shown) {
      const auto point = std::ranges::find(bands[a], length, &BandPoint::at);
      if (point == bands[a].end()) row.emplace_back("-");
      else if (!point->standard_deviation) row.push_back(fixed(point->mean, 3));
      else row.push_back(fmt::format("{} ± {}", fixed(point->mean, 3), fixed(point->standard_deviation, 3)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string length_table_caption(const ReportData& report, const std::string& metric) {
  const bool own = metric == by_length_metric;
  const std::string of = own ? "val_accuracy" : metric_of_family(metric);
  return fmt::format("{} {}{}.", report.shown_metric(of),
                     own ? "by the rows' own lengths" : "on rows of each length of [train] evaluate_lengths",
                     report.seeds.size() > 1 ? ": mean ± standard deviation over the seeds" : "");
}

} // namespace heed
