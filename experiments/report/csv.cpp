// The report as comma-separated values (RFC 4180), for spreadsheets, pandas and R. Numbers are not rounded; unknown
// values are empty.
#include "experiments/data/csv.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/verdict.hpp"
#include "experiments/system/polling.hpp"

#include <cmath>
#include <fmt/format.h>
#include <utility>

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

void add_interval(Cells& cells, const std::string& name, const std::optional<statistics::Interval>& interval) {
  cells.emplace_back(name + "_low", interval ? csv_text(interval->low) : "");
  cells.emplace_back(name + "_high", interval ? csv_text(interval->high) : "");
}

void add_estimate(Cells& cells, const std::string& name, const std::optional<statistics::Estimate>& estimate) {
  cells.emplace_back(name, estimate ? csv_text(estimate->value) : "");
  add_interval(cells, name, estimate ? estimate->interval : std::nullopt);
}

std::string changes_of(const ReportArm& arm) {
  std::string text;
  for (const PlannedChange& change : arm.changes)
    text += fmt::format("{}{} = {}", text.empty() ? "" : "; ", change.key, change.value);
  return text;
}

Cells line_of(const ReportData& report, const ReportArm& arm, const TableDigits& digits) {
  poll_caller();
  // The reference has the same columns, with empty cells.
  const statistics::Comparison c = arm.comparison.value_or(statistics::Comparison{});
  const bool compared = arm.comparison.has_value();
  Cells cells{{"arm", arm.true_label()},
              {"changes", changes_of(arm)},
              {"group", report.group_label(arm)},
              {"reference", report.is_reference(arm) ? "" : report.arms[arm.reference].true_label()},
              {"metric", report.metric.name},
              {"n", fmt::format("{}", arm.values)},
              {"mean", csv_text(arm.mean)},
              {"standard_deviation", csv_text(arm.standard_deviation)},
              {"interquartile_mean", csv_text(arm.interquartile_mean)},
              {"look", arm.look == 0 ? "" : fmt::format("{}", arm.look)},
              {"pairs", compared ? fmt::format("{}", c.difference.pairs) : ""},
              {"difference", compared ? csv_text(c.difference.mean) : ""}};
  add_interval(cells, "difference", c.interval);
  add_interval(cells, "difference_flips", c.interval_flips);
  add_interval(cells, "difference_student", c.difference.interval);
  cells.emplace_back("difference_standard_deviation", csv_text(c.difference.standard_deviation));
  add_estimate(cells, "interquartile_difference", c.interquartile);
  cells.emplace_back("effect_size", csv_text(c.effect_size));
  cells.emplace_back("correlation", csv_text(c.correlation));
  add_estimate(cells, "improvement", c.improvement);
  cells.emplace_back("p", csv_text(c.p));
  cells.emplace_back("p_flip", csv_text(c.p_flip));
  cells.emplace_back("p_holm", csv_text(c.p_holm));
  cells.emplace_back("margin", csv_text(c.margin));
  add_interval(cells, "equivalence", c.equivalence);
  cells.emplace_back("p_equivalence", csv_text(c.p_equivalence));
  cells.emplace_back("p_equivalence_flips", csv_text(c.p_equivalence_flips));
  const bool reference = report.is_reference(arm);
  cells.emplace_back("answer", reference ? "" : std::string(name_of(answer_word(arm.comparison, report.metric))));
  cells.emplace_back("sentence", answer_sentence(report, arm, digits));
  const auto& learned = arm.learned;
  cells.emplace_back("learned", learned ? fmt::format("{}", learned->arm.seeds) : "");
  cells.emplace_back("learned_of", learned ? fmt::format("{}", learned->arm.of) : "");
  cells.emplace_back("learned_from", learned ? csv_text(learned->threshold) : "");
  cells.emplace_back("p_learned", learned ? csv_text(learned->p) : "");
  cells.emplace_back("p_failed_worst", csv_text(arm.p_failed_worst));
  cells.emplace_back("p_choices", csv_text(arm.p_choices));
  cells.emplace_back("ranked", compared ? (c.ranked ? "true" : "false") : "");
  cells.emplace_back("p_spreads", csv_text(c.p_spreads));
  cells.emplace_back("parameters", arm.cost ? fmt::format("{}", arm.cost->parameters) : "");
  cells.emplace_back("flops_per_step", arm.cost ? csv_text(arm.cost->flops_per_step) : "");
  cells.emplace_back("bytes", arm.cost ? csv_text(arm.cost->bytes) : "");
  cells.emplace_back("seconds", arm.seconds > 0 ? csv_text(arm.seconds) : "");
  if (report.table)
    cells.emplace_back("made", fmt::format("elsewhere, read from {}; no plan was frozen", report.table->file));
  return cells;
}

} // namespace

std::string render_csv(const ReportData& report) {
  std::vector<Cells> lines;
  const auto add = [&](const ReportData& of) {
    const TableDigits digits(of);
    for (const ReportArm& arm : of.arms) lines.push_back(line_of(of, arm, digits));
  };
  add(report);
  each_further_metric(report, [&](std::size_t, const ReportData& further) { add(further); });
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
                       {"state", std::string(run.standing())},
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
