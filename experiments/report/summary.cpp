#include "experiments/report/answers.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed {

namespace {

/// Colours the cell of an arm that differs: green for better, red for worse.
std::string coloured(const std::string& cell, AnswerWord answer, const Style& style) {
  return answer == AnswerWord::better ? style.green(cell) : answer == AnswerWord::worse ? style.red(cell) : cell;
}

template <class ValueOf> Measured measured(const ReportData& report, const Metric& metric, const ValueOf& value_of) {
  std::vector<double> values;
  for (const ReportRun& run : report.arms.front().runs)
    if (const std::optional<double> value = value_of(run); value && std::isfinite(*value)) values.push_back(*value);
  Measured out{metric, values.size(), {}, {}};
  if (values.empty()) return out;
  out.mean = statistics::mean(values);
  out.standard_deviation = statistics::standard_deviation(values);
  return out;
}

} // namespace

bool has_cost(const ReportArm& arm) { return arm.cost.has_value(); }
bool has_time(const ReportArm& arm) { return arm.seconds > 0; }

TextTable measured_table(const ReportData& report) {
  TextTable table{{"metric", report.seeds.size() > 1 ? "mean ± sd" : "value", "unit", "better"},
                  {Align::left, Align::right, Align::left, Align::left},
                  {}};
  for (const Measured& of : measured_values(report))
    table.rows.push_back({of.metric.shown(), of.text(), of.metric.unit,
                          !of.metric.is_goal()           ? ""
                          : of.metric.higher_is_better() ? "higher"
                                                         : "lower"});
  const ReportArm& arm = report.arms.front();
  if (arm.cost) table.rows.push_back({"parameters", with_commas(arm.cost->parameters), "", ""});
  if (arm.cost && arm.cost->state_size)
    table.rows.push_back({"state", with_commas(*arm.cost->state_size), "numbers", ""});
  if (arm.seconds > 0) table.rows.push_back({"training time", duration(arm.seconds), "", ""});
  return table;
}

TextTable summary_table(const ReportData& report, const Style& style) {
  const document::Table table = arm_table(report);
  TextTable out;
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const document::Column& column = table.columns[c];
    if (column.detail != document::Column::Detail::main) continue;
    shown.push_back(c);
    out.add_column(column.title, column.is_number() ? Align::right : Align::left);
  }
  for (const document::Row& row : table.rows) {
    std::vector<std::string>& cells = out.rows.emplace_back();
    for (const std::size_t c : shown) {
      const document::Cell& cell = row.cells[c];
      std::string text = cell.missing ? "-" : cell.text;
      for (const std::string* more : {&cell.spread, &cell.interval, &cell.remark})
        if (!more->empty()) text += " " + *more;
      cells.push_back(coloured(text, cell.mark, style));
    }
  }
  return out;
}

std::string progress_sentence(const ReportData& report) {
  const std::size_t total = report.total();
  if (report.tuning && !report.tuning->settled()) {
    std::size_t trials = 0, known = 0;
    for (const ArmTuning& arm : report.tuning->arms) {
      trials += arm.trials.size();
      known += static_cast<std::size_t>(std::ranges::count_if(arm.trials, is_done));
    }
    return fmt::format("arms are being tuned: {} of {} points of the grid are done; {} run{} to follow", known, trials,
                       total, plural(total));
  }
  std::string text = fmt::format("{} of {} run{} finished", report.count(RunState::finished), total, plural(total));
  for (const RunState state :
       {RunState::running, RunState::queued, RunState::failed, RunState::interrupted, RunState::missing})
    if (const std::size_t n = report.count(state)) text += fmt::format(", {} {}", n, name_of(state));
  if (const std::size_t n = report.left_out() - report.no_row()) text += fmt::format(", {} left out", n);
  if (const std::size_t n = report.no_row()) text += fmt::format(", {} missing", n);
  if (const std::size_t n = report.gone()) text += fmt::format(", {} finished before and gone", n);
  return text;
}

std::string Measured::text() const {
  if (!standard_deviation) return fixed(mean, decimals_for({mean.value_or(0) / 100})); // four significant digits
  const int decimals = decimals_for({*standard_deviation});
  return fmt::format("{} ± {}", fixed(mean, decimals), fixed(standard_deviation, decimals));
}

std::vector<Measured> measured_values(const ReportData& report) {
  std::vector<Measured> out;
  if (report.arms.size() != 1) return out;
  const auto add = [&](const Metric& metric, const auto& value_of) {
    if (Measured of = measured(report, metric, value_of); of.n > 0) out.push_back(std::move(of));
  };
  const auto at = [](const std::vector<std::optional<double>>& values, std::size_t i) {
    return i < values.size() ? values[i] : std::nullopt;
  };
  add(report.metric, [](const ReportRun& run) { return run.value; });
  for (std::size_t i = 0; i < report.also.size(); ++i)
    add(report.also[i], [&](const ReportRun& run) { return at(run.also, i); });
  for (std::size_t i = 0; i < report.others.size(); ++i)
    add(report.others[i], [&](const ReportRun& run) { return at(run.others, i); });
  return out;
}

} // namespace heed
