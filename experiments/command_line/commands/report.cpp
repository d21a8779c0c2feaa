// heed report: reports the results of a sweep. The sweep may still be running.
#include "experiments/actions/sweep_report.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/report/figures.hpp"
#include "experiments/report/indented_json.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/page_files.hpp"
#include "experiments/report/picture_files.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/svg_picture.hpp"
#include "experiments/system/text.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>
#include <optional>

namespace heed {

namespace {

struct ReportArguments {
  std::string out = "runs", sweep, notes, figure;
  bool dark = false, schema = false;
  ResultOptions result;
};

/// A report file. It is written into the sweep's folder, next to the plan.
struct ReportFile {
  std::string name;
  std::string (*render)(const ReportData&);
};

/// A report format and its files. The format `terminal` has no files.
struct Format {
  std::string name;
  std::vector<ReportFile> files;
  bool shows_attention = false;
};

std::string render_json(const ReportData& report) { return indented(report_document(report)); }

const std::vector<Format>& formats() {
  static const std::vector<Format> all{{"html", {{"report.html", render_html}}, true},
                                       {"markdown", {{"report.md", render_markdown}}},
                                       {"latex", {{"report.tex", render_latex}}},
                                       {"csv",
                                        {{"report.csv", render_csv},
                                         {"runs.csv", render_runs_csv},
                                         {"lengths.csv", render_lengths_csv},
                                         {"variance.csv", render_variance_csv}}},
                                       {"json", {{"report.json", render_json}}, true},
                                       {"terminal", {}}};
  return all;
}

/// The folder of the chosen sweep.
std::filesystem::path sweep_of(const ReportArguments& arguments) {
  return find_sweep(arguments.out, arguments.sweep.empty() ? std::nullopt : std::optional(arguments.sweep));
}

/// Says which sweep was chosen by default if there are several: among all sweeps, or among the sweeps with the given
/// name.
void tell_which(const std::filesystem::path& chosen, const ReportArguments& arguments, Console& console) {
  const bool named = !arguments.sweep.empty();
  if (named && !has_name(chosen, arguments.sweep)) return; // a path, or the full name of a folder
  std::vector<std::string> others;
  for (const std::filesystem::path& folder : sweep_folders(arguments.out))
    if (folder != chosen && (!named || has_name(folder, arguments.sweep))) others.push_back(folder.filename().string());
  if (others.empty()) return;
  constexpr std::size_t most = 4;
  const std::size_t count = others.size() + 1;
  const std::string more = others.size() > most ? fmt::format(", and {} more", others.size() - most) : "";
  if (others.size() > most) others.resize(most);
  say(console,
      fmt::format("{} is the latest of {} sweeps{} in '{}'; --sweep takes another: {}{}", chosen.filename().string(),
                  count, named ? fmt::format(" named \"{}\"", arguments.sweep) : "", arguments.out,
                  fmt::join(others, ", "), more));
  console.err.flush();
}

int report_figure(const ReportArguments& arguments, Console& console) {
  const ResultOptions& result = arguments.result;
  if (!result.format.empty() || result.json || result.csv)
    throw Refused("report: --figure writes a picture, in the format that the name after --output ends in; leave out "
                  "--format, --json and --csv");
  const std::filesystem::path out = arguments.out;
  const std::filesystem::path folder = sweep_of(arguments);
  const std::string format = result.file == "-" ? "svg" : picture_format(result.file);
  ResultOutput output("report", result, format, is_picture_of_heed);
  tell_which(folder, arguments, console);
  const std::vector<document::Figure> figures = report_figures(report_of_sweep(load_plan(folder), out, folder, false));
  const document::Figure& figure = figure_named(figures, arguments.figure);
  const std::string picture = picture_in(format, svg_figure(figure, arguments.dark));
  if (!result.file.empty()) {
    output.write(picture, console);
    return 0;
  }
  const std::string name = figure.name + ".svg";
  file_of_sweep(folder, name).write(picture);
  print(console.data, "{}\n", (folder / name).string());
  return 0;
}

int report(const ReportArguments& arguments, Console& console) {
  if (!arguments.figure.empty()) return report_figure(arguments, console);
  if (arguments.schema) {
    console.data << page_files::schema;
    return 0;
  }
  if (arguments.dark) throw Refused("report: --dark does nothing without --figure; add it");
  ResultOptions result = arguments.result;
  if ((result.json || result.csv) && result.file.empty()) result.file = "-";
  ResultOutput output("report", result, "html", is_report_of_heed);
  require_notes_of_terminal("report", arguments.notes, output.format());
  const std::filesystem::path out = arguments.out;
  const std::filesystem::path folder = sweep_of(arguments);
  tell_which(folder, arguments, console);
  const Plan plan = load_plan(folder);
  const Format& format = *std::ranges::find(formats(), output.format(), &Format::name);
  const ReportData data = report_of_sweep(plan, out, folder, format.shows_attention);
  if (output.is("terminal")) {
    console.out << render_terminal(data, console.out_style, results_width(console), arguments.notes == "all");
    return 0;
  }
  if (!result.file.empty()) {
    if (output.is("json")) output.write_result(report_document(data), console);
    else output.write(format.files.front().render(data), console);
    return 0;
  }
  for (const ReportFile& file : format.files) {
    const std::string text = file.render(data);
    if (text.empty()) continue; // such as lengths.csv, where nothing was measured by length
    file_of_sweep(folder, file.name).write(text);
    print(console.data, "{}\n", (folder / file.name).string());
  }
  return 0;
}

} // namespace

void add_report(Commands& commands) {
  add_command<ReportArguments>(
      commands, "report", "report the results of a sweep, finished or not",
      "Examples:\n"
      "  heed report runs\n"
      "  heed report runs --sweep quickstart --format latex\n"
      "Reports the latest sweep of the folder, or the sweep that --sweep names (its name in the config, the beginning\n"
      "of its folder's name, or a path). If there are several sweeps, it names the one it reports. For html and json,\n"
      "it first computes missing attention weights of the runs of the first seed, for the inputs of [report] attend.\n"
      "Files are written into the sweep's folder, and their paths are printed:\n"
      "  html      report.html, a page for the browser that needs no network\n"
      "  markdown  report.md\n"
      "  latex     report.tex, a table and figures, a complete LaTeX document\n"
      "  csv       report.csv, a line for each arm, and runs.csv, a line for each run; lengths.csv, a line for each\n"
      "            arm, metric and length, if sequences are evaluated by length; variance.csv, a line for each source\n"
      "            of variance, with [sweep] vary\n"
      "  json      report.json, all data of the report\n"
      "  terminal  no file: prints the table\n"
      "--output writes the report (of csv, report.csv only) to another file; - is standard output. --figure writes "
      "one\n"
      "figure as a picture: NAME.svg, or --output FILE, which ends in .svg, .pdf or .png.",
      [](Command& command, ReportArguments& arguments) {
        add_output_folder(command, arguments.out);
        command.add("--sweep NAME", arguments.sweep, "the sweep [the latest]");
        add_result_options(command, arguments.result, names_of(formats()));
        add_notes(command, arguments.notes);
        command.add("--figure NAME", arguments.figure, "one figure only: differences, variance, val-loss-by-step, ...");
        command.add_flag("--schema", arguments.schema, "print the JSON Schema of the format json, of any report");
        command.add_flag("--dark", arguments.dark, "with --figure: on dark paper");
      },
      report);
}

} // namespace heed
