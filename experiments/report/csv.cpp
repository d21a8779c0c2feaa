// The report as comma-separated values (RFC 4180), for spreadsheets, pandas and R. Numbers are not rounded; unknown
// values are empty.
#include "experiments/data/csv.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "experiments/report/variance.hpp"
#include "experiments/system/polling.hpp"

#include <cmath>
#include <fmt/format.h>
#include <utility>
#include <variant>

namespace heed {

namespace {

/// The cells of a line, each with the name of its column; every line has the same columns.
using Cells = std::vector<std::pair<std::string, std::string>>;

std::string sheet(const std::vector<Cells>& lines) {
  std::string out;
  const auto write = [&](const Cells& cells, auto part) {
    std::vector<std::string> texts;
    for (const auto& cell : cells) texts.push_back(cell.*part);
    out += sheet_line(texts, "\r\n");
  };
  if (lines.empty()) return out;
  write(lines.front(), &Cells::value_type::first);
  for (const Cells& line : lines) write(line, &Cells::value_type::second);
  return out;
}

std::string csv_text(std::optional<double> value) { return value && std::isfinite(*value) ? csv_number(*value) : ""; }

std::string text_of(const document::FileValue& value) {
  struct Text {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(bool yes) const { return yes ? "true" : "false"; }
    std::string operator()(std::int64_t count) const { return fmt::format("{}", count); }
    std::string operator()(double number) const { return csv_number(number); }
    std::string operator()(const std::string& text) const { return text; }
  };
  return std::visit(Text(), value);
}

/// A line for each row of a document's table; all columns, by their keys.
void add_lines(const document::Table& table, std::vector<Cells>& lines) {
  for (const document::Row& row : table.rows) {
    poll_caller();
    Cells& cells = lines.emplace_back();
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      for (std::size_t k = 0; k < table.columns[c].keys.size(); ++k) {
        const std::vector<document::FileValue>& values = row.cells[c].values;
        cells.emplace_back(table.columns[c].keys[k], values.empty() ? "" : text_of(values[k]));
      }
  }
}

} // namespace

std::string render_csv(const ReportData& report) {
  std::vector<Cells> lines;
  add_lines(arm_table(report), lines);
  each_further_metric(report, [&](std::size_t, const ReportData& further) { add_lines(arm_table(further), lines); });
  return sheet(lines);
}

std::string render_runs_csv(const ReportData& report) {
  std::vector<Cells> lines;
  PolledWork work;
  for (const ReportArm& arm : report.arms) {
    poll_caller();
    for (const ReportRun& run : arm.runs) {
      work.did(1000);
      lines.push_back({{"arm", arm.true_label()},
                       {"seed", run.seed_text()},
                       {"run", run.id},
                       {"state", std::string(run.status())},
                       {report.metric.name, csv_text(run.value)}});
      for (std::size_t i = 0; i < report.also.size(); ++i)
        lines.back().emplace_back(report.also[i].name, i < run.also.size() ? csv_text(run.also[i]) : "");
      lines.back().insert(lines.back().end(), {{"seconds", run.seconds > 0 ? csv_text(run.seconds) : ""},
                                               {"folder", run.folder.string()},
                                               {"problem", run.problem}});
    }
  }
  return sheet(lines);
}

std::string render_variance_csv(const ReportData& report) {
  std::vector<Cells> lines;
  each_variance(report, [&](std::size_t which) { add_lines(variance_table(report, which), lines); });
  return sheet(lines);
}

std::string render_lengths_csv(const ReportData& report) {
  std::vector<Cells> lines;
  for (const std::string& metric : length_metrics(report))
    for (const ReportArm& arm : report.arms)
      for (const BandPoint& point : length_band(arm, metric))
        lines.push_back({{"arm", arm.true_label()},
                         {"group", report.group_label(arm)},
                         {"metric", metric},
                         {"length", fmt::format("{}", point.at)},
                         {"n", fmt::format("{}", point.runs)},
                         {"mean", csv_text(point.mean)},
                         {"standard_deviation", csv_text(point.standard_deviation)},
                         {"lowest", csv_text(point.low)},
                         {"highest", csv_text(point.high)}});
  return sheet(lines);
}

} // namespace heed
