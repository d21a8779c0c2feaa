// heed run: a configuration's runs, those that are missing, and their report.
#include "autograd/error.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/preparation.hpp"
#include "experiments/command_line/run_display.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/runs/stop_signals.hpp"
#include "experiments/sweep/executor.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace heed {

namespace {

struct RunArguments {
  std::string config, out = "runs";
  std::vector<std::string> overrides;
  int jobs = 0, threads = 0;
};

struct Folders {
  std::filesystem::path sweep;
  std::vector<RunFolder> runs;
};

/// Everything on the disk that the runs start from. What fails here fails before the first step.
Folders make_folders(const Plan& plan, const std::filesystem::path& out) {
  make_output_folder(out);
  try {
    Folders folders;
    folders.sweep = freeze(plan, out);
    for (const PlannedRun& run : plan.runs) folders.runs.push_back(prepare_run(out, run.id, run.config));
    return folders;
  } catch (const Failed& error) {
    throw Refused(error.what());
  }
}

std::string label_of(const Plan& plan, const PlannedRun& run) {
  const std::string seed = fmt::format("seed {}", run.seed);
  return plan.arms.size() == 1 ? seed : fmt::format("{}, {}", plan.arms.at(run.arm).label, seed);
}

std::vector<BoardRun> board_runs(const Preparation& prepared) {
  std::vector<BoardRun> runs;
  for (const PlannedRun& run : prepared.plan.runs) {
    const PreparedArm& arm = prepared.arms.at(run.arm);
    const auto steps = arm.config.train.steps;
    runs.push_back({label_of(prepared.plan, run), steps, arm.facts.cost.flops_per_step * static_cast<double>(steps)});
  }
  return runs;
}

/// How many runs at once and with how many threads, for the runs that are not finished.
Share share_for(const Preparation& prepared, std::size_t to_do, const RunArguments& arguments) {
  double bytes = 0;
  for (const PreparedArm& arm : prepared.arms) bytes = std::max(bytes, arm.facts.cost.bytes(std::max<std::int64_t>(1, arguments.threads)));
  const auto configured = static_cast<int>(prepared.arms.front().config.train.threads);
  const int threads = arguments.threads > 0 ? arguments.threads : configured;
  return share_machine(this_machine(), to_do, bytes, arguments.jobs, threads);
}

/// The command that repeats this one.
std::string same_command(const RunArguments& arguments, const Console& console) {
  std::vector<std::string> words{console.program, "run", arguments.config};
  words.insert(words.end(), arguments.overrides.begin(), arguments.overrides.end());
  if (arguments.out != "runs") words.insert(words.end(), {"--out", arguments.out});
  return shell_words(words);
}

void say_where(const Preparation& prepared, const Folders& folders, const RunArguments& arguments, Console& console) {
  const Plan& plan = prepared.plan;
  const std::string name = folders.sweep.filename().string();
  auto command = [&](std::vector<std::string> words) {
    words.insert(words.begin(), console.program);
    return shell_words(words);
  };
  fmt::print(console.out, "\n  plan      {}\n", folders.sweep.string());
  fmt::print(console.out, "  runs      {}\n",
             plan.runs.size() == 1 ? folders.runs.front().path.string() : (arguments.out + "/ID"));
  fmt::print(console.out, "  next      {}\n", command({"report", arguments.out, "--sweep", name}));
  if (!prepared.arms.front().config.data.path.empty() &&
      form_of(prepared.arms.front().config) == Form::language_model) {
    std::vector<std::string> words{"generate", plan.runs.front().id, "--prompt", "..."};
    if (arguments.out != "runs") words.insert(words.end(), {"--out", arguments.out});
    fmt::print(console.out, "            {}\n", command(words));
  }
}

int run(const RunArguments& arguments, Console& console) {
  Tasks tasks;
  const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks);
  const Plan& plan = prepared.plan;
  const std::filesystem::path out = arguments.out;
  const Folders folders = make_folders(plan, out);

  const auto to_do = static_cast<std::size_t>(
      std::count_if(folders.runs.begin(), folders.runs.end(),
                    [](const RunFolder& run) { return state_of(run) != RunState::finished; }));
  const Share share = share_for(prepared, std::max<std::size_t>(to_do, 1), arguments);
  const std::size_t before = plan.runs.size() - to_do;
  fmt::print(console.err, "{}  {}{}\n", console.err_style.bold(plan.name), size_in_words(plan),
             to_do == 0   ? "; all were done before"
             : before > 0 ? fmt::format("; {} done before", before)
                          : "");
  if (to_do > 0)
    fmt::print(console.err, "{}{} thread{}{}; Ctrl-C stops after keeping checkpoints\n\n",
               to_do == 1 ? "" : fmt::format("{} at a time, ", share.jobs), share.threads,
               share.threads == 1 ? "" : "s", to_do == 1 ? "" : " each");
  console.err.flush();

  Executed executed;
  bool stopped = false;
  if (to_do > 0) {
    RunDisplay display(console, board_runs(prepared));
    const StopSignals signals;
    LocalExecutor executor(this_program(), share.jobs, share.threads);
    executed = executor.execute(
        folders.runs, [&](const RunEvent& event) { display.take(event); },
        [&] {
          if (StopSignals::requested() && !stopped) {
            stopped = true;
            display.say("stopping: what runs keeps a checkpoint first (Ctrl-C again ends at once)");
          }
          display.tick();
          return stopped;
        });
  }

  const ReportData report =
      collect_report(plan, out, folders.sweep, [&](const Config& config) { return facts_of(config, tasks); });
  console.out << render_terminal(report, console.out_style);
  say_where(prepared, folders, arguments, console);
  console.out.flush();

  if (executed.interrupted + executed.remaining > 0)
    throw Failed(fmt::format("stopped with {} of {} runs done. Go on from there with\n      {}",
                             report.count(RunState::finished), report.total(), same_command(arguments, console)));
  if (executed.failed > 0)
    throw Failed(fmt::format("{} of {} runs failed, for the reasons above; the others are kept. Try them again with\n"
                             "      {}",
                             executed.failed, report.total(), same_command(arguments, console)));
  return 0;
}

} // namespace

void add_run(Commands& commands) {
  add_command<RunArguments>(
      commands, "run", "run a config: train what is missing, then show the results",
      "Examples:\n"
      "  heed run configs/quickstart.toml\n"
      "  heed run configs/quickstart.toml train.steps=500 attention.score=cosine\n"
      "  heed run configs/papers/nanogpt-char.toml data.path=tinyshakespeare.txt --threads 2\n"
      "A config with a [sweep] gives a run for each arm and seed, any other a single run. Runs that are finished are\n"
      "not repeated; those that were interrupted go on from their last checkpoint, to the same bits.\n"
      "Overrides: a.b=value, read by the option's type; a.b=@default resets (heed options lists them all)." +
          std::string(exit_statuses),
      [](CLI::App& command, RunArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add_option("--out", arguments.out, "the folder for runs and sweeps [runs]")->type_name("FOLDER");
        add_number(command, "--jobs", arguments.jobs, "runs at once, in processes [as the machine allows]", 1, 4096);
        add_number(command, "--threads", arguments.threads, "threads of each run [as the machine allows]", 1, 4096);
      },
      run);
}

} // namespace heed
