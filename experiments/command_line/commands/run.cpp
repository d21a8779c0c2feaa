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
#include "experiments/sweep/executor.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/program.hpp"
#include "experiments/system/stop_signals.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <span>

namespace heed {

namespace {

struct RunArguments {
  std::string config, out = "runs";
  std::vector<std::string> overrides;
  int jobs = 0, threads = 0;
};

/// Everything on the disk that the runs start from.
std::vector<RunFolder> make_folders(const std::vector<PlannedRun>& runs, const std::filesystem::path& out) {
  std::vector<RunFolder> folders;
  for (const PlannedRun& run : runs) folders.push_back(prepare_run(out, run.id, run.config));
  return folders;
}

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

std::size_t unfinished(std::span<const RunFolder> runs) {
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [](const RunFolder& run) { return state_of(run) != RunState::finished; }));
}

/// How many runs of a plan are still to be done. Trials count until the arms have chosen: one that failed is out then,
/// and not to do.
/// @param replicates  none: not known before the arms have chosen
std::size_t left_of(const Plan& plan, std::span<const RunFolder> trials, std::span<const RunFolder> replicates) {
  const bool to_tune = plan.tuning && !plan.tuning->settled();
  return (to_tune ? unfinished(trials) : 0) + (replicates.empty() ? plan.runs.size() : unfinished(replicates));
}

/// How many runs at once and with how many threads, for the runs that are not finished.
Share share_for(const Preparation& prepared, std::size_t to_do, const RunArguments& arguments) {
  const double bytes = largest_bytes(prepared, std::max(1, arguments.threads));
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

/// The stages of one `heed run`: what they share is the display, and that a stop stops them all.
class Stages {
public:
  Stages(const Preparation& prepared, const Plan& plan, const RunArguments& arguments, Console& console)
      : prepared_(prepared), arguments_(arguments), display_(console, board_runs(prepared, plan)) {}

  /// Executes runs, which have these numbers on the board. Returns which of `runs` failed.
  std::vector<std::size_t> execute(const std::vector<RunFolder>& runs, const std::vector<std::size_t>& on_board) {
    std::vector<std::size_t> failed;
    if (stopped_) {
      total_.remaining += unfinished(runs);
      return failed;
    }
    const Share share = share_for(prepared_, std::max<std::size_t>(unfinished(runs), 1), arguments_);
    LocalExecutor executor(this_program(), share.jobs, share.threads);
    const Executed executed = executor.execute(
        runs,
        [&](RunEvent event) {
          if (event.kind == RunEvent::Kind::failed) failed.push_back(event.run);
          event.run = on_board.at(event.run);
          display_.take(event);
        },
        [&] { return stop_requested(); });
    total_.finished += executed.finished;
    total_.failed += executed.failed;
    total_.interrupted += executed.interrupted;
    total_.remaining += executed.remaining;
    return failed;
  }

  /// The trials of a tuned sweep, then each arm's choice. A trial that fails is tried once more: what doesn't fail
  /// again was an accident, and what does is out.
  void tune(Plan& plan, const std::vector<RunFolder>& runs, const std::filesystem::path& out,
            const std::filesystem::path& folder) {
    const std::vector<std::size_t> failed = execute(runs, first_on_board(0, runs.size()));
    if (!failed.empty() && !stopped_) {
      total_.failed -= failed.size();
      std::vector<RunFolder> again;
      for (const std::size_t run : failed) again.push_back(runs[run]);
      total_.failed -= execute(again, failed).size();  // told of by the report, and no failure of the sweep
    }
    // Another process may be trying once more what failed here, or have left what it began.
    while (!stopped_ && !settle(plan, out, folder, [&] { return stop_requested(); })) {
      std::vector<RunFolder> open;
      std::vector<std::size_t> on_board;
      for (std::size_t i = 0; i < runs.size(); ++i)
        if (const RunState state = state_of(runs[i]); state != RunState::finished && state != RunState::failed) {
          open.push_back(runs[i]);
          on_board.push_back(i);
        }
      total_.failed -= execute(open, on_board).size();
    }
    if (stopped_) return;
    for (std::size_t a = 0; a < plan.arms.size(); ++a)
      display_.say(fmt::format("tuned {}: {}", plan.arms[a].label, tuning_in_words(*plan.tuning, a)));
  }

  static std::vector<std::size_t> first_on_board(std::size_t first, std::size_t count) {
    std::vector<std::size_t> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = first + i;
    return out;
  }

  bool stopped() const { return stopped_; }
  const Executed& total() const { return total_; }

private:
  bool stop_requested() {
    if (StopSignals::requested() && !stopped_) {
      stopped_ = true;
      display_.say("stopping: what runs keeps a checkpoint first (Ctrl-C again ends at once)");
    }
    display_.tick();
    return stopped_;
  }

  const Preparation& prepared_;
  const RunArguments& arguments_;
  RunDisplay display_;
  const StopSignals signals_;
  Executed total_;
  bool stopped_ = false;
};

int run(const RunArguments& arguments, Console& console) {
  Tasks tasks;
  const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks);
  const std::filesystem::path out = arguments.out;
  const std::optional<OlderSweep> older = find_older_sweep(prepared.plan, out);

  // What fails here fails before the first step.
  Plan plan = prepared.plan;
  std::filesystem::path folder;
  std::vector<RunFolder> trials, replicates;
  try {
    make_output_folder(out);
    folder = freeze(plan, out);
    if (plan.tuning) {
      plan = load_plan(folder);
      trials = make_folders(plan.tuning->runs, out);
    }
    if (!plan.tuning || plan.tuning->settled()) replicates = make_folders(plan.runs, out);
  } catch (const Failed& error) {
    throw Refused(error.what());
  }

  const bool to_tune = plan.tuning && !plan.tuning->settled();
  const std::size_t all = trials.size() + plan.runs.size();
  const std::size_t to_do = left_of(plan, trials, replicates), before = all - to_do;
  print(console.err, "{}  {}{}\n", console.err_style.bold(plan.name), size_in_words(plan),
        to_do == 0   ? "; all were done before"
        : before > 0 ? fmt::format("; {} done before", before)
                     : "");
  if (older) tell_of_older_sweep(*older, plan, out, console);
  if (to_do > 0) {
    const Share share = share_for(prepared, to_tune ? std::max<std::size_t>(unfinished(trials), 1) : to_do, arguments);
    print(console.err, "{}{} thread{}{}; Ctrl-C stops after keeping checkpoints\n\n",
          to_do == 1 ? "" : fmt::format("{} at a time, ", share.jobs), share.threads,
          share.threads == 1 ? "" : "s", to_do == 1 ? "" : " each");
  }
  console.err.flush();

  Executed executed;
  if (to_do > 0) {
    Stages stages(prepared, plan, arguments, console);
    if (to_tune) stages.tune(plan, trials, out, folder);
    if (!stages.stopped() && replicates.empty()) replicates = make_folders(plan.runs, out);
    if (!stages.stopped()) stages.execute(replicates, Stages::first_on_board(trials.size(), replicates.size()));
    else if (replicates.empty()) executed.remaining = plan.runs.size();
    executed.interrupted = stages.total().interrupted;
    executed.failed = stages.total().failed;
    executed.remaining += stages.total().remaining;
  }

  const ReportData report =
      collect_report(plan, out, folder, [&](const Config& config) { return facts_of(config, tasks); });
  console.out << render_terminal(report, console.out_style, results_width(console));
  say_where(prepared, plan, folder, arguments, console);
  console.out.flush();

  if (executed.interrupted + executed.remaining > 0) {
    throw Failed(fmt::format("stopped with {} of {} runs done. Go on from there with\n      {}",
                             all - left_of(plan, trials, replicates), all, same_command(arguments, console)));
  }
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
      [](Command& command, RunArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add("--out", arguments.out, "the folder for runs and sweeps [runs]").value_name("FOLDER");
        command.add("--jobs", arguments.jobs, "runs at once, in processes [as the machine allows]").within(1, 4096);
        command.add("--threads", arguments.threads, "threads of each run [as the machine allows]").within(1, 4096);
      },
      run);
}

} // namespace heed
