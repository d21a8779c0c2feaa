#include "experiments/report/markdown.hpp"

#include "experiments/config/values.hpp"
#include "experiments/report/answers.hpp"
#include "experiments/report/curves.hpp"
#include "experiments/report/notes.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/problem_groups.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/tables.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/report/variance.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

namespace heed {

namespace {

/// The text on one line without leading and trailing spaces: four leading spaces would make it code.
std::string plain_line(std::string_view text) {
  const std::string line = in_one_line(without_controls(text));
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string::npos ? "" : line.substr(first, line.find_last_not_of(' ') + 1 - first);
}

/// A fence of at least `least` backquotes, longer than any sequence of backquotes in the text.
std::string fence_around(std::string_view text, std::size_t least) {
  std::size_t longest = 0, here = 0;
  for (const char c : text) {
    here = c == '`' ? here + 1 : 0;
    longest = std::max(longest, here);
  }
  return std::string(std::max(least, longest + 1), '`');
}

std::string list_item(std::string_view text) { return fmt::format("- {}\n", markdown_text(text)); }

std::string list_of_changes(const ReportArm& arm) {
  const std::string text = joined(arm.changes, ", ", [](const PlannedChange& change) {
    return markdown_code(fmt::format("{} = {}", change.key, change.value), true);
  });
  return text.empty() ? "the reference" : text;
}

std::string arms_section(const ReportData& report) {
  if (report.table) return ""; // what the arms change is not in the table
  TextTable table{{"arm", "what it changes", "FLOPs a step", "memory (one thread)"},
                  {Align::left, Align::left, Align::right, Align::right},
                  {}};
  const bool states = std::ranges::any_of(report.arms,
                                          [](const ReportArm& arm) { return arm.cost && arm.cost->state_size; });
  if (states) table.add_column("state (numbers)");
  for (const ReportArm& arm : report.arms) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{
        markdown_text(arm.label, true), list_of_changes(arm), arm.cost ? scaled(arm.cost->flops_per_step, "") : "-",
        arm.cost ? scaled(arm.cost->bytes, "B") : "-"});
    if (states) row.push_back(arm.cost && arm.cost->state_size ? with_commas(*arm.cost->state_size) : "-");
  }
  return "## Arms\n\n" + markdown_table(table);
}

std::string curves_section(const ReportData& report) {
  const TextTable table = band_table(report, curve_band, [](const BandPoint& point) { return fixed(point.mean, 4); });
  if (table.headings.size() < 3) return ""; // one step
  return fmt::format("## Learning curves\n\nThe mean of {} over the seeds, by training step.\n\n{}",
                     markdown_text(report.curve_metric().shown()), to_markdown(table));
}

std::string lengths_section(const ReportData& report) {
  std::string out;
  for (const std::string& metric : length_metrics(report))
    out += fmt::format("{}{}\n\n{}", out.empty() ? "## At each length\n\n" : "\n",
                       markdown_text(length_table_caption(report, metric)), to_markdown(length_table(report, metric)));
  return out;
}

std::string runs_section(const ReportData& report) {
  TextTable table{{"arm", "seed", "run", "state", markdown_text(report.metric.shown(), true), "time"},
                  {Align::left, Align::right, Align::left, Align::left, Align::right, Align::right},
                  {}};
  PolledWork work;
  for (const ReportArm& arm : report.arms)
    for (const ReportRun& run : arm.runs) {
      work.did(4000);
      table.rows.push_back({markdown_text(arm.label, true), markdown_text(run.seed_text(), true),
                            run.id.empty() ? "" : markdown_code(run.id, true), std::string(run.status()),
                            fixed(run.value, 6), run.seconds > 0 ? duration(run.seconds) : "-"});
    }
  return "## Runs\n\n" + markdown_table(table);
}

std::string fairness_section(const ReportData& report) {
  std::string text;
  for (const document::Note& note : report_notes(report))
    if (note.kind == document::Note::Kind::matching || note.kind == document::Note::Kind::tuning)
      text += list_item(note.name + ": " + note.text);
  return text.empty() ? "" : "## What each arm was given\n\n" + text;
}

std::string problems_section(const ReportData& report) {
  std::string text;
  for (const ProblemGroup& group : problem_groups(report))
    text += fmt::format("- {}, {} ({}, {}): {}\n", markdown_text(group.arm->label), group.seeds(),
                        group.ids([](const std::string& id) { return markdown_code(id); }), group.state(),
                        markdown_text(group.reason()));
  return text.empty() ? "" : "## Runs that failed or are left out\n\n" + text;
}

std::string provenance_section(const ReportData& report) {
  std::string text = "## Where these numbers come from\n\n";
  for (const ReportMachine& machine : report.machines)
    text += fmt::format("- {} run{}: {}\n", machine.runs, plural(machine.runs), markdown_text(machine.description));
  if (report.machines.size() > 1)
    text += "\nThese runs were not all made by the same program on the same kind of machine: bits may differ between "
            "them.\n\n";
  if (report.table)
    return text + fmt::format("- table: {}\n- columns: {}\n", markdown_code(report.table->file),
                              markdown_text(report.table->columns));
  if (!report.data.empty()) text += fmt::format("- data: {}\n", markdown_code(report.data));
  text += fmt::format("- sweep: {}\n", markdown_code(report.folder.string()));
  return text + "\nThe reference's configuration, resolved:\n\n" + markdown_block(report.reference_config, "toml");
}

} // namespace

std::string markdown_text(std::string_view text, bool in_cell) {
  const std::string line = plain_line(text);
  const auto has = [&](std::string_view part) { return line.find(part) != std::string::npos; };
  // Brackets and > are formatting only in combination with other characters, so they are not escaped in intervals and
  // arrows.
  std::string marks = "\\`*_{}<#|~$&";
  if (line.starts_with('[') || std::ranges::any_of(std::array{"](", "][", "[^", "[["}, has)) marks += "[]";
  if (line.starts_with('>') || has("<")) marks += ">";
  const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool within = i > 0 && i + 1 < line.size() && in_word(line[i - 1]) && in_word(line[i + 1]);
    // Characters that are formatting only at the beginning of a line: lists, rules, setext headings.
    const bool ends = i + 1 == line.size() || line[i + 1] == ' ' || line[i + 1] == c;
    const bool begins = !in_cell && ends &&
                        (i == 0 ? c == '-' || c == '+' || c == '='
                                : (c == '.' || c == ')') && line.find_first_not_of("0123456789") == i);
    // GitHub links plain addresses: https://..., www..., name@place. A backslash does not prevent this for the last
    // form, but an empty comment does.
    const bool address = (c == ':' && line.compare(i + 1, 1, "/") == 0) ||
                         (c == '.' && i >= 3 &&
                          std::ranges::all_of(line.substr(i - 3, 3), [](char w) { return w == 'w' || w == 'W'; }));
    const bool mark = marks.find(c) != std::string::npos && !(c == '_' && within);
    if (mark || begins || address) out += '\\';
    out += c;
    if (c == '@') out += "<!-- -->";
  }
  return out;
}

std::string markdown_code(std::string_view text, bool in_cell) {
  const std::string line = plain_line(text);
  // In a cell, code cannot represent a backslash before a bar.
  if (line.empty() || (in_cell && line.find("\\|") != std::string::npos)) return markdown_text(line, in_cell);
  const std::string fence = fence_around(line, 1), gap = line.front() == '`' || line.back() == '`' ? " " : "";
  return fence + gap + (in_cell ? replaced(line, {{'|', "\\|"}}) : line) + gap + fence;
}

std::string markdown_block(std::string_view lines, std::string_view language) {
  const std::string text = without_controls(lines), fence = fence_around(text, 3);
  return fence + std::string(language) + "\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n";
}

std::string render_markdown(const ReportData& report) {
  std::string out = fmt::format("{}# {}\n\n", markdown_mark, markdown_text(report.name));
  if (!report.question.empty()) out += markdown_text(report.question) + "\n\n";
  out += markdown_text(progress_sentence(report) + ".") + "\n\n";
  for (const std::string& warning : provenance_warnings(report)) out += "**" + markdown_text(warning) + "**\n\n";
  const bool single = report.arms.size() == 1;
  out += to_markdown(single ? measured_table(report) : summary_table(report, Style{})) + "\n";
  const std::vector<std::string> answers = answer_sentences(report);
  for (const std::string& answer : answers) out += list_item(answer);
  if (!answers.empty()) out += "\nWhat the columns are:\n\n";
  for (const document::Note& note : report_notes(report))
    if (note.kind == document::Note::Kind::column || note.kind == document::Note::Kind::formula)
      out += list_item(note.name + ": " + note.text);
  const auto add_further = [&](std::size_t, const ReportData& further) {
    out += fmt::format("\n## {}\n\n{}\n\n{}\n", markdown_text(further.metric.shown()),
                       markdown_text(further_note(further.metric, report.asks_not_worse())),
                       to_markdown(summary_table(further, Style{})));
    for (const std::string& answer : answer_sentences(further)) out += list_item(answer);
  };
  if (!single) each_further_metric(report, add_further);
  for (const std::string& section :
       {variance_markdown(report), arms_section(report), fairness_section(report), curves_section(report),
        lengths_section(report), problems_section(report), runs_section(report), provenance_section(report)})
    if (!section.empty()) out += "\n" + section;
  return out;
}

} // namespace heed
