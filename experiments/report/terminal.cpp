#include "experiments/metrics/lengths.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/problem_groups.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "experiments/report/variance.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

namespace {

/// Whether a metric by length belongs to a metric of the report; the other formats have all of them.
bool is_of_report(const ReportData& report, const std::string& by_length) {
  return by_length == by_length_metric || by_length == metric_at_lengths(report) ||
         std::ranges::any_of(report.also,
                             [&](const Metric& metric) { return family_at_lengths(metric.name) == by_length; });
}

} // namespace

std::string render_terminal(const ReportData& report, const Style& style, std::size_t width, bool whole) {
  const auto paragraph = [&](const std::string& text) { return wrapped(text, width, "  ", "    "); };
  const std::string bold = style.colour ? style.command("\033[1m") : "",
                    end = style.colour ? style.command("\033[0m") : "";
  std::string out = fmt::format("{}  {}\n", style.bold(report.name), style.faint(progress_sentence(report)));
  if (!report.question.empty()) out += wrapped(report.question, width);
  for (const std::string& warning : provenance_warnings(report)) out += paragraph(style.red(warning));
  out += "\n";
  const bool single = report.arms.size() == 1;
  out += to_text_within(single ? measured_table(report) : summary_table(report, style), width, bold, end);
  out += "\n";
  const auto sentences = [&](const ReportData& of) {
    return whole ? answer_sentences(of) : short_answer_sentences(of);
  };
  const std::vector<std::string> answers = sentences(report);
  for (const std::string& answer : answers) out += paragraph(answer);
  if (!answers.empty()) out += "\n";
  const auto add_further = [&](std::size_t, const ReportData& further) {
    out += paragraph(further_note(further.metric, report.asks_not_worse())) + "\n";
    out += to_text_within(summary_table(further, style), width, bold, end);
    out += "\n";
    for (const std::string& answer : sentences(further)) out += paragraph(answer);
    out += "\n";
  };
  if (!single) each_further_metric(report, add_further);
  each_variance(report, [&](std::size_t which) {
    out += paragraph(variance_title(report, which) + ":") + "\n";
    out += to_text_within(variance_text_table(report, which), width, bold, end) + "\n";
    for (const std::string& sentence : variance_sentences(report, which)) out += paragraph(sentence);
    out += "\n";
  });
  for (const std::string& metric : length_metrics(report)) {
    if (!is_of_report(report, metric)) continue;
    out += paragraph(length_table_caption(report, metric)) + "\n";
    out += to_text_within(length_table(report, metric), width, bold, end) + "\n";
  }
  std::string given;
  for (const document::Note& note : report_notes(report)) {
    const std::string text = fmt::format("{}: {}", note.name, whole ? note.text : note.claim);
    if (note.kind == document::Note::Kind::matching || note.kind == document::Note::Kind::tuning)
      given += paragraph(text);
    else out += paragraph(style.faint(text));
  }
  if (!given.empty()) out += "\n" + given;

  std::string problems;
  for (const ProblemGroup& group : problem_groups(report))
    problems += paragraph(fmt::format("{} {}, {} ({}): {}", style.red(group.state()), group.arm->label, group.seeds(),
                                      group.ids([](const std::string& id) { return id; }), group.reason()));
  if (!problems.empty()) out += "\n" + problems;
  return out;
}

} // namespace heed
