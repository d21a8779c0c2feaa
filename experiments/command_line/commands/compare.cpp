// heed compare: reports results that were made elsewhere, from a table.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/results/compare_results.hpp"
#include "experiments/system/standard_input.hpp"
#include "experiments/system/text.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <system_error>

namespace heed {

namespace {

struct CompareArguments {
  std::string file, notes;
  ResultOptions result;
  ResultRequest question;
};

/// A format of the report, and how its file's name ends. The format `terminal` has no file.
struct CompareFormat {
  std::string name, ending;
  std::string (*render)(const ReportData&);
};

std::string compared_as_text(const ReportData& report) { return render_terminal(report, Style{}); }

const std::vector<CompareFormat>& compare_formats() {
  static const std::vector<CompareFormat> all{
      {"terminal", "", nullptr},         {"html", ".html", render_html}, {"markdown", ".md", render_markdown},
      {"latex", ".tex", render_latex},   {"csv", ".csv", render_csv},    {"json", ".json", nullptr},
      {"text", ".txt", compared_as_text}};
  return all;
}

/// The table of a file, or of standard input.
ResultTable table_of_file(const std::string& file) {
  if (file == "-") return read_results(standard_input(std::size_t{1} << 28), "standard input");
  const auto bytes = read_file(file, std::numeric_limits<std::uint64_t>::max());
  if (!bytes) throw Refused(fmt::format("{}; FILE is a table of results, or - for standard input", bytes.error));
  return read_results(*bytes, file);
}

/// The options, with the file to which a format is written if none is given: a name from the table's, in the current
/// folder. JSON by --json is printed.
ResultOptions with_default_file(const CompareArguments& arguments) {
  ResultOptions out = arguments.result;
  if (!out.file.empty()) return out;
  if (out.json || out.csv) {
    out.file = "-";
    return out;
  }
  const auto format = std::ranges::find(compare_formats(), out.format, &CompareFormat::name);
  if (format == compare_formats().end() || format->ending.empty()) return out;
  const std::string stem = arguments.file == "-" ? "results" : std::filesystem::path(arguments.file).stem().string();
  out.file = fmt::format("{}-report{}", stem, format->ending);
  return out;
}

int compare(const CompareArguments& arguments, Console& console) {
  const ResultOptions result = with_default_file(arguments);
  std::error_code error;
  if (!result.file.empty() && result.file != "-" && arguments.file != "-" &&
      std::filesystem::equivalent(result.file, arguments.file, error))
    throw Refused(fmt::format("compare: --output {} is the table itself; name another file", result.file));
  ResultOutput output("compare", result, "terminal", is_report_of_heed);
  require_notes_of_terminal("compare", arguments.notes, output.format());
  const CompareFormat& format = *std::ranges::find(compare_formats(), output.format(), &CompareFormat::name);
  const ReportData report = compare_results(table_of_file(arguments.file), arguments.question);
  if (output.is("json")) output.write_result(report_document(report), console);
  else if (format.render) output.write(format.render(report), console);
  else console.out << render_terminal(report, console.out_style, results_width(console), arguments.notes == "all");
  return 0;
}

void declare_columns(Command& command, ResultRequest& question) {
  command.add("--metric COLUMN", question.metrics, "the metric; a further one is compared as well").repeatable();
  command.add("--reference ARM", question.reference, "the arm that the others are compared with [reference, baseline]");
  command.add("--arm COLUMN", question.arm, "what is compared [arm, model, method, ...]").repeatable();
  command.add("--seed COLUMN", question.seed, "the seed: runs with the same seed are a pair [seed, trial, ...]");
  command.add("--pair COLUMNS", question.pair, "in place of --seed: columns that together make a pair")
      .repeatable()
      .separated_by(',');
  command.add("--group COLUMN", question.group, "arms are compared within each group").repeatable();
  command.add("--first GROUP", question.first,
              "the group that interactions compare the others with [the first by name]");
  command.add("--step COLUMN", question.step, "the step of an evaluation [step, epoch, ...]; none: no steps");
  command.add("--examples COLUMN", question.examples,
              "the example of a row, if each run has a row for each: also compares over other examples");
  command.add("--state COLUMN", question.state, "whether a run finished or failed [state, status]; none: all finished");
  command.add("--time COLUMN", question.time, "seconds of training [seconds, runtime]; none: not shown");
  command.add("--parameters COLUMN", question.parameters, "the number of parameters");
  command.add("--run-name PATTERN", question.run_name, "where names of runs have arm and seed: \"{arm}-seed{seed}\"");
}

} // namespace

void add_compare(Commands& commands) {
  add_command<CompareArguments>(
      commands, "compare", "report results that were made elsewhere, from a table",
      "Examples:\n"
      "  heed compare results.csv --metric accuracy --reference baseline --margin 0.01\n"
      "  heed compare log.jsonl --metric val_loss --arm optimizer --group dataset --format html\n"
      "  heed compare wandb.csv --metric \"val/acc\" --run-name \"{arm}-seed{seed}\"\n"
      "FILE is CSV, TSV, JSON lines, or a JSON list of objects; - is standard input. It has a row for each run, or "
      "for\n"
      "each evaluation with a step: then the last value counts, and there are curves. Exports of charts, with a "
      "column\n"
      "\"RUN - METRIC\" for each run, are read, too, and so is the runs.csv of heed report --format csv.\n"
      "An empty cell, nan or inf is a run that failed. With steps, an empty cell is no\n"
      "evaluation; but a run that is empty at the end, where most runs have a value, has failed, too.\n"
      "An option that takes METRIC=WORD can be repeated; without METRIC=, it is for all metrics.\n"
      "The statistics are those of heed report.\n"
      "Each format but terminal is written to a file, FILE-report.html and so on in the current folder, whose name is\n"
      "printed. --output names another file; - is standard output. A report that Heed wrote there before is replaced, "
      "and\n"
      "any other file only with --force. Pipes and devices are written through.",
      [](Command& command, CompareArguments& arguments) {
        ResultRequest& question = arguments.question;
        command.add("FILE", arguments.file, "the table; - is standard input").required();
        declare_columns(command, question);
        command
            .add("--direction [METRIC=]WORD", question.direction,
                 "higher, lower or none is better [by the metric's name]")
            .repeatable();
        command
            .add("--bounds [METRIC=]LOW,HIGH", question.bounds,
                 "the lowest and the highest possible value [by name and values]")
            .repeatable();
        command.add("--unit [METRIC=]UNIT", question.unit, "the metric's unit").repeatable();
        command.add("--margin VALUE", question.margin,
                    "differences up to this are the same, in the first metric's unit");
        command
            .add("--answer WORD", question.answer,
                 "with --margin: same, or \"not worse\" (by more than the margin) [same]")
            .one_of({"same", "not worse"});
        command.add("--learned VALUE", question.learned,
                    "a run that reaches this value has learned [by the gap, if any]");
        command.add("--test TEST", question.test, "paired or unpaired [paired]").one_of({"paired", "unpaired"});
        command
            .add("--over WORDS", question.over,
                 "one answer over all groups: \"these tasks\", or \"tasks like these\" (six groups or more) [none]")
            .one_of({"none", "these tasks", "tasks like these"});
        command.add(
            "--scale NUMBERS", question.scale,
            "with --over: a number for each group, by which its values are divided: 0.2,1.5 [metric: as they are]");
        command
            .add("--precision WORD", question.precision,
                 "float32 or float64: values that differ by its rounding are equal [float64]")
            .one_of({"float32", "float64"});
        command.add("--name TEXT", question.name, "the report's title [FILE]");
        command.add("--question TEXT", question.question, "the question, for readers");
        add_result_options(command, arguments.result, names_of(compare_formats()));
        command.argument("--output").description("the file to write [FILE-report.ENDING]; -: standard output");
        command.argument("--force").description("replace the file also if it is no report of Heed's");
        add_notes(command, arguments.notes);
      },
      compare);
}

} // namespace heed
