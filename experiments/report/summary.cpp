#include "experiments/report/digits.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

namespace {

std::string mean_cell(const ReportArm& arm, int decimals) {
  if (!arm.mean) return "-";
  if (!arm.standard_deviation) return fixed(arm.mean, decimals);
  return fmt::format("{} ± {}", fixed(arm.mean, decimals), fixed(arm.standard_deviation, decimals));
}

std::string difference_cell(const ReportArm& arm, int decimals, bool higher_is_better, const Style& style) {
  if (!arm.difference) return "";
  const statistics::PairedDifference& d = *arm.difference;
  const std::string mean = signed_fixed(d.mean, decimals);
  if (!d.interval) return mean;
  const std::string cell = fmt::format("{} [{}, {}]", mean, signed_fixed(d.interval->low, decimals),
                                       signed_fixed(d.interval->high, decimals));
  if (d.interval->low > 0) return higher_is_better ? style.green(cell) : style.red(cell);
  if (d.interval->high < 0) return higher_is_better ? style.red(cell) : style.green(cell);
  return cell;
}

bool any_difference(const ReportData& report) {
  return std::any_of(report.arms.begin(), report.arms.end(),
                     [](const ReportArm& arm) { return arm.difference.has_value(); });
}

} // namespace

TextTable summary_table(const ReportData& report, const Style& style) {
  const auto [decimals, difference_decimals] = digits_of(report);
  const bool compared = report.arms.size() > 1;

  TextTable table{{"arm", "n", report.metric.name}, {Align::left, Align::right, Align::right}, {}};
  if (compared) {
    table.headings.push_back("difference [95 %]");
    table.alignment.push_back(Align::right);
  }
  for (const char* heading : {"parameters", "time"}) {
    table.headings.emplace_back(heading);
    table.alignment.push_back(Align::right);
  }
  for (const ReportArm& arm : report.arms) {
    std::vector<std::string> row{arm.label, fmt::format("{}", arm.values), mean_cell(arm, decimals)};
    if (compared) row.push_back(difference_cell(arm, difference_decimals, report.metric.higher_is_better, style));
    row.push_back(arm.facts ? with_commas(arm.facts->cost.parameters) : "-");
    row.push_back(arm.seconds > 0 ? duration(arm.seconds) : "-");
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> summary_notes(const ReportData& report) {
  const MetricInfo& metric = report.metric;
  const bool several = report.seeds.size() > 1;
  const std::string spread =
      several ? fmt::format("mean ± standard deviation over {} seeds, ", report.seeds.size()) : "";
  std::vector<std::string> notes;
  notes.push_back(fmt::format("{}: {}{}; {}{}.", metric.name, spread,
                              metric.higher_is_better ? "higher is better" : "lower is better", metric.meaning,
                              metric.unit.empty() ? "" : fmt::format(" ({})", metric.unit)));
  if (any_difference(report))
    notes.emplace_back(several
                           ? "difference: from the reference, runs paired by seed, with Student's t interval (95 %) for "
                             "each arm by itself, not corrected for the number of arms."
                           : "difference: from the reference; one seed says nothing about the spread.");
  if (metric.name.find("accuracy") != std::string::npos && report.arms.front().facts) {
    const Task::Chance& chance = report.arms.front().facts->chance;
    if (!chance.how.empty()) notes.push_back(fmt::format("chance: {} ({}).", fixed(chance.accuracy, 4), chance.how));
  }
  notes.emplace_back("time: of one run's training, the mean over its seeds.");
  return notes;
}

std::string progress_sentence(const ReportData& report) {
  const std::size_t total = report.total();
  std::string text =
      fmt::format("{} of {} run{} finished", report.count(RunState::finished), total, total == 1 ? "" : "s");
  for (const RunState state : {RunState::running, RunState::failed, RunState::interrupted, RunState::missing})
    if (const std::size_t n = report.count(state)) text += fmt::format(", {} {}", n, name_of(state));
  return text;
}

} // namespace heed
