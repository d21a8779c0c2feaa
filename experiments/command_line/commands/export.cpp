// heed export: converts the metrics of runs to the formats of other tools (TensorBoard, CSV).
#include "experiments/actions/found_runs.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/config/config.hpp"
#include "experiments/exports/export.hpp"
#include "experiments/index/run_filter.hpp"
#include "experiments/metrics/record.hpp"
#include "experiments/sweep/arm_runs.hpp"
#include "experiments/system/text.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <optional>

namespace heed {

namespace {

struct ExportArguments {
  std::vector<std::string> runs;
  std::string out = "runs", where, to, into;
  ResultOptions result;
};

/// The runs named on the command line. If none is named: the runs of the output folder that match --where.
std::vector<RunFolder> chosen(const ExportArguments& arguments, Console& console) {
  std::vector<RunFolder> out;
  for (const std::string& run : arguments.runs) out.push_back(find_run(arguments.out, run));
  if (!out.empty()) {
    if (!arguments.where.empty())
      throw Refused("export: --where does nothing if runs are named; leave one of the two out");
    return out;
  }
  RunIndex index(arguments.out);
  if (may_name_arm(arguments.where))
    add_arms(index, arguments.out, [&](const std::string& problem) { say(console, problem); });
  Selection selection;
  if (!arguments.where.empty()) selection.where = parse_filter(arguments.where, index.fields());
  for (const auto& row : index.select({field_named(index.fields(), "id", "")}, selection))
    out.push_back({std::filesystem::path(arguments.out) / std::get<std::string>(row[0])});
  say_left_out(index.left_out(), index, console);
  if (out.empty()) throw Refused(fmt::format("export: no run is found in {}", arguments.out));
  return out;
}

/// The runs with their names: by the label of the arm, or by the configuration's name for a run of no sweep.
std::vector<ExportedRun> named(const std::vector<RunFolder>& runs) {
  std::map<std::filesystem::path, ArmsOfRuns> arms; // by output folder: the user can name runs of several
  std::vector<ExportedRun> out;
  for (const RunFolder& run : runs) {
    const std::filesystem::path folder = run.path.parent_path();
    auto known = arms.find(folder);
    if (known == arms.end()) known = arms.emplace(folder, arms_of_runs(folder)).first;
    std::string what;
    std::optional<std::int64_t> seed;
    try {
      const Config config = read_config(run);
      what = config.general.name;
      seed = config.general.seed;
    } catch (const Refused&) {
      // The metrics can be exported without the configuration; the ID is name enough.
    }
    if (const auto label = known->second.labels.find(run.id()); label != known->second.labels.end())
      what = label->second;
    out.push_back({run, export_name(what, seed, run.id())});
  }
  return out;
}

int do_export(const ExportArguments& arguments, Console& console) {
  ResultOutput output("export", arguments.result);
  const std::vector<ExportedRun> runs = named(chosen(arguments, console));
  const OutputFolder folder = arguments.into.empty()
                                  ? OutputFolder{arguments.out, std::filesystem::path("exports") / arguments.to}
                                  : OutputFolder{arguments.into, {}};
  for (const ExportedRun& exported : runs)
    if (const auto lines = each_metrics_line(exported.run.metrics(), [](const MetricsRecord&) {}); !lines)
      throw Refused(lines.error);
  folder.make();
  for (const ExportFormat& format : export_formats()) {
    if (format.name != arguments.to) continue;
    ExportResult result{format.name, folder.path().string(), {}};
    for (const ExportedRun& exported : runs) {
      result.files.push_back(format.write(exported, folder).string());
      if (!output.is("json")) console.data << result.files.back() << "\n";
    }
    if (output.is("json")) output.write_result(result, console);
    else if (!format.next.empty())
      console.err << "  next      " << format.next << " " << shell_words({folder.path().string()}) << "\n";
  }
  return 0;
}

} // namespace

void add_export(Commands& commands) {
  std::string formats;
  for (const ExportFormat& format : export_formats())
    formats += fmt::format("  {:12} {}\n", format.name, format.summary);
  add_command<ExportArguments>(
      commands, "export", "write metrics of runs for other tools: TensorBoard's event files, CSV",
      "Examples:\n"
      "  heed export --to tensorboard\n"
      "  heed export 3f2a 9c01 --to csv --into tables\n"
      "  heed export --where \"name = 'which score'\" --to tensorboard\n"
      "Formats:\n" +
          formats +
          "RUN is the path of a run's folder, or a unique beginning of its ID; if none is named, all runs of --out\n"
          "are exported, or those that match --where (heed runs --help explains filters). A file's name has the label "
          "of\n"
          "the run's arm in its most recent sweep, the run's seed and its ID. The paths of the files are printed.\n"
          "Checkpoints need no export: PyTorch's safetensors opens them.",
      [](Command& command, ExportArguments& arguments) {
        command.add("RUN", arguments.runs, "which runs [all]");
        command
            .add("--to FORMAT", arguments.to,
                 fmt::format("the format: {}", fmt::join(names_of(export_formats()), ", ")))
            .required()
            .one_of(names_of(export_formats()));
        command.add("--into FOLDER", arguments.into, "the folder to write to [OUT/exports/FORMAT]");
        command.add("--where EXPR", arguments.where, "a filter; only runs that match it [all]");
        add_json_option(command, arguments.result);
        command.add("--out FOLDER", arguments.out, "the folder with the runs [runs]");
      },
      do_export);
}

} // namespace heed
