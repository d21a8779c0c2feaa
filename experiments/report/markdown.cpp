#include "experiments/report/answers.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <set>

namespace heed {

namespace {

/// A text of people's as Markdown that shows just it, on one line.
std::string markdown_text(std::string_view text) {
  constexpr std::string_view marks = "\\`*_{}[]<>#|~$&";
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool within = i > 0 && i + 1 < text.size() && in_word(text[i - 1]) && in_word(text[i + 1]);
    const bool first = text.substr(0, i).find_first_not_of(" \n") == std::string_view::npos;
    // What is no mark but where a line begins: lists, headings of the older kind.
    const bool begins = first && (c == '-' || c == '+' || c == '=');
    const bool numbers = c == '.' && text.substr(0, i).find_first_not_of("0123456789 \n") == std::string_view::npos;
    const bool mark = marks.find(c) != std::string_view::npos && !(c == '_' && within);
    if (mark || begins || numbers) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string list_of_changes(const ReportArm& arm) {
  std::string text;
  for (const PlannedChange& change : arm.changes)
    text += fmt::format("{}`{} = {}`", text.empty() ? "" : ", ", change.key, change.value);
  return text.empty() ? "the reference" : text;
}

std::string arms_section(const ReportData& report) {
  TextTable table{{"arm", "what it changes", "FLOPs a step", "memory (one thread)"},
                  {Align::left, Align::left, Align::right, Align::right},
                  {}};
  for (const ReportArm& arm : report.arms)
    table.rows.push_back({arm.label, list_of_changes(arm), arm.cost ? scaled(arm.cost->flops_per_step, "") : "-",
                          arm.cost ? scaled(arm.cost->bytes, "B") : "-"});
  return "## Arms\n\n" + to_markdown(table);
}

/// The mean over seeds at some of the steps, or lengths, that arms were evaluated at; empty where there is only one.
template <class BandOf> std::string means_table(const ReportData& report, const BandOf& band_of) {
  constexpr std::size_t most_columns = 8;
  std::set<std::int64_t> places;
  for (const ReportArm& arm : report.arms)
    for (const BandPoint& point : band_of(arm)) places.insert(point.at);
  if (places.size() < 2) return "";

  const std::vector<std::int64_t> all(places.begin(), places.end());
  std::set<std::int64_t> shown;
  const std::size_t columns = std::min(most_columns, all.size());
  for (std::size_t i = 0; i < columns; ++i) shown.insert(all[i * (all.size() - 1) / (columns - 1)]);

  TextTable table{{"arm"}, {Align::left}, {}};
  for (const std::int64_t place : shown) {
    table.headings.push_back(fmt::format("{}", place));
    table.alignment.push_back(Align::right);
  }
  for (const ReportArm& arm : report.arms) {
    const std::vector<BandPoint> band = band_of(arm);
    std::vector<std::string> row{arm.label};
    for (const std::int64_t place : shown) {
      const auto point = std::ranges::find(band, place, &BandPoint::at);
      row.push_back(point == band.end() ? "-" : fixed(point->mean, 4));
    }
    table.rows.push_back(std::move(row));
  }
  return to_markdown(table);
}

std::string curves_section(const ReportData& report) {
  const std::string table = means_table(report, curve_band);
  if (table.empty()) return "";
  return fmt::format("## Learning curves\n\nThe mean of {} over the seeds, by training step.\n\n{}",
                     report.curve_metric().name, table);
}

std::string lengths_section(const ReportData& report) {
  const std::string metric = metric_at_lengths(report);
  if (metric.empty()) return "";
  return fmt::format("## At each length\n\nThe mean of {} over the seeds, on rows of each length.\n\n{}",
                     metric.substr(0, metric.rfind("_at")),
                     means_table(report, [&](const ReportArm& arm) { return length_band(arm, metric); }));
}

std::string runs_section(const ReportData& report) {
  TextTable table{{"arm", "seed", "run", "state", report.metric.name, "time"},
                  {Align::left, Align::right, Align::left, Align::left, Align::right, Align::right},
                  {}};
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs)
      table.rows.push_back({arm.label, fmt::format("{}", run.seed), "`" + run.id + "`", std::string(run.standing()),
                            fixed(run.value, 6), run.seconds > 0 ? duration(run.seconds) : "-"});
  return "## Runs\n\n" + to_markdown(table);
}

std::string fairness_section(const ReportData& report) {
  std::string text;
  for (const std::string& note : fairness_notes(report)) text += fmt::format("- {}\n", note);
  return text.empty() ? "" : "## What each arm was given\n\n" + text;
}

std::string problems_section(const ReportData& report) {
  std::string text;
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs)
      if (!run.problem.empty())
        text += fmt::format("- {}, seed {} (run `{}`, {}): {}\n", arm.label, run.seed, run.id, run.standing(),
                            run.problem);
  return text.empty() ? "" : "## Runs that failed or are left out\n\n" + text;
}

std::string provenance_section(const ReportData& report) {
  std::string text = "## Where these numbers come from\n\n";
  for (const ReportMachine& machine : report.machines)
    text += fmt::format("- {} run{}: {}\n", machine.runs, machine.runs == 1 ? "" : "s", machine.description);
  if (report.machines.size() > 1)
    text += "\nThese runs were not all made by the same program on the same kind of machine: bits may differ between "
            "them.\n\n";
  if (!report.data.empty()) text += fmt::format("- data: `{}`\n", report.data);
  text += fmt::format("- sweep: `{}`\n", report.folder.string());
  text += fmt::format("\nThe reference's configuration, resolved:\n\n```toml\n{}```\n", report.reference_config);
  return text;
}

} // namespace

std::string render_markdown(const ReportData& report) {
  std::string out = fmt::format("# {}\n\n", markdown_text(report.name));
  if (!report.question.empty()) out += markdown_text(report.question) + "\n\n";
  out += fmt::format("{}.\n\n", progress_sentence(report));
  out += to_markdown(summary_table(report, Style{})) + "\n";
  const std::vector<std::string> answers = answer_sentences(report);
  for (const std::string& answer : answers) out += fmt::format("- {}\n", answer);
  if (!answers.empty()) out += "\nWhat the columns are:\n\n";
  for (const std::string& note : summary_notes(report)) out += fmt::format("- {}\n", note);
  for (std::size_t i = 0; i < report.also.size(); ++i) {
    const ReportData further = by_further_metric(report, i);
    out += fmt::format("\n## {}\n\n{}\n\n{}\n", further.metric.name, further_note(further.metric),
                       to_markdown(summary_table(further, Style{})));
    for (const std::string& answer : answer_sentences(further)) out += fmt::format("- {}\n", answer);
  }
  for (const std::string& section :
       {arms_section(report), fairness_section(report), curves_section(report), lengths_section(report),
        problems_section(report), runs_section(report), provenance_section(report)})
    if (!section.empty()) out += "\n" + section;
  return out;
}

} // namespace heed
