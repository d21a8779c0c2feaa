// heed status: what an output folder holds, and what is running there.
#include "autograd/error.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/runs/run_store.hpp"
#include "experiments/sweep/plan.hpp"

#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace heed {

namespace {

struct StatusArguments {
  std::string out = "runs";
};

std::string at(const RunFolder& run) {
  const auto bytes = read_file(run.progress());
  if (!bytes) return "starting";
  const auto progress = progress_from_json(*bytes);
  if (!progress) return "starting";
  const auto left = static_cast<double>(progress->steps - progress->step);
  std::string text = fmt::format("step {} of {}  loss {:.4f}", progress->step, progress->steps, progress->loss);
  if (progress->steps_per_second > 0)
    text += fmt::format("  {:.1f} steps/s  {} left", progress->steps_per_second,
                        duration(left / progress->steps_per_second));
  return text;
}

int status(const StatusArguments& arguments, Console& console) {
  const std::filesystem::path out = arguments.out;
  if (!std::filesystem::is_directory(out))
    throw Refused(fmt::format("{}: there is no such folder; heed run CONFIG --out {} makes it", arguments.out,
                              arguments.out));
  constexpr std::array states{RunState::finished, RunState::running, RunState::failed, RunState::interrupted,
                              RunState::missing};
  TextTable table{{"sweep", "runs"}, {Align::left, Align::right}, {}};
  for (const RunState state : states) {
    table.headings.emplace_back(name_of(state));
    table.alignment.push_back(Align::right);
  }
  std::string running, failed, damaged;
  for (const std::filesystem::path& folder : sweep_folders(out)) {
    Plan plan;
    try {
      plan = load_plan(folder);
    } catch (const Refused& error) {
      damaged += fmt::format("  {}\n", error.what());
      continue;
    }
    std::array<std::size_t, states.size()> counts{};
    for (const PlannedRun& planned : plan.runs) {
      const RunFolder run{out / planned.id};
      const RunState state = state_of(run);
      for (std::size_t i = 0; i < states.size(); ++i)
        if (states[i] == state) ++counts[i];
      const std::string who = fmt::format("{}, {}, seed {} ({})", plan.name, plan.arms.at(planned.arm).label,
                                          planned.seed, planned.id);
      if (state == RunState::running) running += fmt::format("  {}  {}\n", who, at(run));
      if (state == RunState::failed) {
        const auto manifest = read_manifest(run);
        failed += fmt::format("  {}: {}\n", who, manifest ? manifest->failure : manifest.error);
      }
    }
    std::vector<std::string> row{folder.filename().string(), fmt::format("{}", plan.runs.size())};
    for (const std::size_t n : counts) row.push_back(fmt::format("{}", n));
    table.rows.push_back(std::move(row));
  }
  fmt::print(console.out, "{}  {} run{}\n", arguments.out, run_ids(out).size(), run_ids(out).size() == 1 ? "" : "s");
  if (!table.rows.empty()) console.out << "\n" << to_text(table);
  if (!running.empty()) console.out << "\nrunning\n" << running;
  if (!failed.empty()) console.out << "\n" << console.out_style.red("failed") << "\n" << failed;
  if (!damaged.empty()) console.out << "\n" << console.out_style.red("damaged") << "\n" << damaged;
  return 0;
}

} // namespace

void add_status(Commands& commands) {
  add_command<StatusArguments>(
      commands, "status", "sweeps and runs of a folder, and what is running there now",
      "Example, from another terminal while a sweep runs:\n"
      "  heed status runs" +
          std::string(exit_statuses),
      [](CLI::App& command, StatusArguments& arguments) {
        command.add_option("OUT", arguments.out, "the folder that runs were written to [runs]")->type_name("");
      },
      status);
}

} // namespace heed
