// heed report: the results of a sweep, at any time, also while it runs.
#include "experiments/report/renderers.hpp"

#include "autograd/error.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/preparation.hpp"

#include <filesystem>
#include <fmt/ostream.h>
#include <optional>

namespace heed {

namespace {

struct ReportArguments {
  std::string out = "runs", sweep, format = "terminal";
};

/// A format that is written to a file beside the plan; `terminal` is not one of them.
struct FileFormat {
  std::string name, file;
  std::string (*render)(const ReportData&);
};
const std::vector<FileFormat>& file_formats() {
  static const std::vector<FileFormat> formats{{"markdown", "report.md", render_markdown}};
  return formats;
}

std::vector<std::string> format_names() {
  std::vector<std::string> names{"terminal"};
  for (const FileFormat& format : file_formats()) names.push_back(format.name);
  return names;
}

int report(const ReportArguments& arguments, Console& console) {
  const std::filesystem::path out = arguments.out;
  const std::filesystem::path folder =
      find_sweep(out, arguments.sweep.empty() ? std::nullopt : std::optional(arguments.sweep));
  Tasks tasks;
  const ReportData data = collect_report(load_plan(folder), out, folder,
                                         [&](const Config& config) { return facts_of(config, tasks); });
  if (arguments.format == "terminal") {
    console.out << render_terminal(data, console.out_style);
    return 0;
  }
  for (const FileFormat& format : file_formats())
    if (format.name == arguments.format) {
      write_file(folder / format.file, format.render(data));
      fmt::print(console.out, "{}\n", (folder / format.file).string());
    }
  return 0;
}

} // namespace

void add_report(Commands& commands) {
  add_command<ReportArguments>(
      commands, "report", "the results of a sweep, finished or not",
      "Examples:\n"
      "  heed report runs\n"
      "  heed report runs --sweep quickstart --format markdown\n"
      "Takes the latest sweep of the folder, or the one that --sweep names (a name, the beginning of a folder's name,\n"
      "or a path). Files are written beside the sweep's plan, and their path is printed." +
          std::string(exit_statuses),
      [](CLI::App& command, ReportArguments& arguments) {
        command.add_option("OUT", arguments.out, "the folder that runs were written to [runs]")->type_name("");
        command.add_option("--sweep", arguments.sweep, "which sweep [the latest]")->type_name("NAME");
        command.add_option("--format", arguments.format, "terminal, or markdown (writes report.md) [terminal]")
            ->check(CLI::IsMember(format_names()).description(""))->type_name("FORMAT");
      },
      report);
}

} // namespace heed
