// heed run: a configuration's runs, those that are missing, and their report.
#include "autograd/error.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/older_sweep.hpp"
#include "experiments/command_line/preparation.hpp"
#include "experiments/command_line/print.hpp"
#include "experiments/command_line/run_display.hpp"
#include "experiments/command_line/terminal_size.hpp"
#include "experiments/config/config.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/sweep/local_launcher.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/program.hpp"
#include "experiments/system/stop_signals.hpp"

#include <fmt/format.h>
#include <optional>

namespace heed {

namespace {

struct RunArguments {
  std::string config, out = "runs";
  std::vector<std::string> overrides;
  int jobs = 0, threads = 0;
};

std::string label_of(const Plan& plan, const PlannedRun& run) {
  const std::string seed = fmt::format("seed {}", run.seed);
  return plan.arms.size() == 1 ? seed : fmt::format("{}, {}", plan.arms.at(run.arm).label, seed);
}

/// The runs of tuning, then the replicates.
std::vector<BoardRun> board_runs(const Preparation& prepared, const Plan& plan) {
  std::vector<BoardRun> runs;
  const auto add = [&](const std::string& label, std::size_t arm, const Trial* trial) {
    const Load load = load_of(prepared, plan, arm, trial);
    runs.push_back({label, load.steps, load.flops()});
  };
  if (plan.tuning) {
    const std::vector<const Trial*> trials = trials_by_run(*plan.tuning);
    for (std::size_t i = 0; i < trials.size(); ++i)
      add(fmt::format("tuning {}: {}", short_words(*trials[i]), label_of(plan, plan.tuning->runs[i])),
          plan.tuning->runs[i].arm, trials[i]);
  }
  for (const PlannedRun& run : plan.runs) add(label_of(plan, run), run.arm, nullptr);
  return runs;
}

/// The command that repeats this one.
std::string same_command(const RunArguments& arguments, const Console& console) {
  std::vector<std::string> words{console.program, "run", arguments.config};
  words.insert(words.end(), arguments.overrides.begin(), arguments.overrides.end());
  if (arguments.out != "runs") words.insert(words.end(), {"--out", arguments.out});
  if (arguments.jobs > 0) words.insert(words.end(), {"--jobs", fmt::format("{}", arguments.jobs)});
  if (arguments.threads > 0) words.insert(words.end(), {"--threads", fmt::format("{}", arguments.threads)});
  return shell_words(words);
}

void say_where(const Preparation& prepared, const Plan& plan, const std::filesystem::path& folder,
               const RunArguments& arguments, Console& console) {
  const std::string name = folder.filename().string();
  auto command = [&](std::vector<std::string> words) {
    words.insert(words.begin(), console.program);
    return shell_words(words);
  };
  const std::string& first = plan.runs.front().id;
  print(console.out, "\n  plan      {}\n", folder.string());
  print(console.out, "  runs      {}\n",
        plan.runs.size() == 1 ? (std::filesystem::path(arguments.out) / first).string() : (arguments.out + "/ID"));
  print(console.out, "  next      {}\n", command({"report", arguments.out, "--sweep", name}));
  if (!prepared.arms.front().config.data.path.empty() && !first.empty() &&
      form_of(prepared.arms.front().config) == Form::language_model) {
    std::vector<std::string> words{"generate", first, "--prompt", "..."};
    if (arguments.out != "runs") words.insert(words.end(), {"--out", arguments.out});
    print(console.out, "            {}\n", command(words));
  }
}

/// Shows a sweep on standard error, and has Ctrl-C stop it.
class ShownSweep : public SweepEvents {
public:
  /// Looks for the sweep that this one takes the place of, so it is to be made before the plan is frozen.
  ShownSweep(const Preparation& prepared, const std::filesystem::path& out, Console& console)
      : prepared_(prepared), out_(out), console_(console), older_(find_older_sweep(prepared.plan, out)) {}

  void ready(const SweepStart& start) override {
    const Plan& plan = start.plan;
    const std::size_t to_do = start.to_do, before = start.runs - to_do;
    print(console_.err, "{}  {}{}\n", console_.err_style.bold(plan.name), size_in_words(plan),
          to_do == 0   ? "; all were done before"
          : before > 0 ? fmt::format("; {} done before", before)
                       : "");
    if (older_) tell_of_older_sweep(*older_, plan, out_, console_);
    if (to_do > 0) {
      const Share& share = start.share;
      print(console_.err, "{}{} thread{}{}; Ctrl-C stops after keeping checkpoints\n\n",
            to_do == 1 ? "" : fmt::format("{} at a time, ", share.jobs), share.threads, share.threads == 1 ? "" : "s",
            to_do == 1 ? "" : " each");
    }
    console_.err.flush();
    if (to_do == 0) return;
    display_.emplace(console_, board_runs(prepared_, plan));
    signals_.emplace();
  }

  void heard(const RunEvent& event) override { display_->take(event); }

  void tuned(const Plan& plan) override {
    for (std::size_t a = 0; a < plan.arms.size(); ++a)
      display_->say(fmt::format("tuned {}: {}", plan.arms[a].label, tuning_in_words(*plan.tuning, a)));
  }

  bool stop_requested() override {
    const bool stop = StopSignals::requested();
    if (stop) display_->say("stopping: what runs keeps a checkpoint first (Ctrl-C again ends at once)");
    display_->tick();
    return stop;
  }

private:
  const Preparation& prepared_;
  const std::filesystem::path& out_;
  Console& console_;
  std::optional<OlderSweep> older_;
  std::optional<RunDisplay> display_;
  std::optional<StopSignals> signals_;
};

/// Runs what is missing, shown as long as it takes.
SweepResult run_shown(const Preparation& prepared, const RunArguments& arguments, Console& console) {
  const std::filesystem::path out = arguments.out;
  LocalLauncher launcher(this_program());
  Executor executor(launcher,
                    [&](std::size_t to_do) { return share_for(prepared, to_do, arguments.jobs, arguments.threads); });
  ShownSweep shown(prepared, out, console);
  return run_sweep(prepared.plan, out, executor, shown);
}

int run(const RunArguments& arguments, Console& console) {
  Tasks tasks;
  const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks);
  const SweepResult result = run_shown(prepared, arguments, console);

  const ReportData report = collect_report(result.plan, arguments.out, result.folder,
                                           [&](const Config& config) { return chance_of(config, tasks); });
  console.out << render_terminal(report, console.out_style, results_width(console));
  say_where(prepared, result.plan, result.folder, arguments, console);
  console.out.flush();

  if (result.stopped())
    throw Failed(fmt::format("stopped with {} of {} runs done. Go on from there with\n      {}",
                             result.runs - result.to_do, result.runs, same_command(arguments, console)));
  if (result.executed.failed > 0)
    throw Failed(fmt::format("{} of {} runs failed, for the reasons above; the others are kept. Try them again with\n"
                             "      {}",
                             result.executed.failed, report.total(), same_command(arguments, console)));
  if (result.to_do > 0)
    throw Failed(fmt::format("{} of {} runs came to their end and are gone: their folders were removed or changed "
                             "meanwhile. Make them anew with\n      {}",
                             result.to_do, result.runs, same_command(arguments, console)));
  if (report.left_out() > 0)
    throw Failed(fmt::format("{} of {} runs can't be relied on and are left out, for the reasons above. Remove their "
                             "folders, and make them anew with\n      {}",
                             report.left_out(), report.total(), same_command(arguments, console)));
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
      [](Command& command, RunArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add("--out", arguments.out, "the folder for runs and sweeps [runs]").value_name("FOLDER");
        command.add("--jobs", arguments.jobs, "runs at once, in processes [as the machine allows]").within(1, 4096);
        command.add("--threads", arguments.threads, "threads of each run [as the machine allows]").within(1, 4096);
      },
      run);
}

} // namespace heed
