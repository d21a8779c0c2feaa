// heed run: executes the runs of a configuration that are not finished yet, then shows the report.
#include "autograd/error.hpp"
#include "autograd/ranks.hpp"
#include "experiments/actions/build.hpp"
#include "experiments/actions/plan_estimate.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/actions/sweep_report.hpp"
#include "experiments/actions/sweep_start.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/messages.hpp"
#include "experiments/command_line/process_group.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/command_line/sweep_events.hpp"
#include "experiments/config/config.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/engines/mpi.hpp"
#include "experiments/launch/executor.hpp"
#include "experiments/launch/local_launcher.hpp"
#include "experiments/launch/process_group_launcher.hpp"
#include "experiments/launch/slurm_launcher.hpp"
#include "experiments/report/json.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/problem_groups.hpp"
#include "experiments/report/renderers.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/runs/worker.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/failure.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/program.hpp"
#include "experiments/system/stop_signals.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <thread>

namespace heed {

namespace {

struct RunArguments {
  std::string config, out = "runs";
  std::vector<std::string> overrides;
  int jobs = 0, threads = 0;
  std::string on = "here";
  std::optional<std::string> slurm_file;
  std::vector<std::string> slurm; ///< the overrides that begin with "slurm."
  ResultOptions result;
  bool as_json() const { return chosen_format("run", result, "terminal") == "json"; }
};

bool on_slurm(const RunArguments& arguments) { return arguments.on == "slurm"; }

/// Moves the cluster's options ("slurm.") from the overrides to `slurm`. Throws heed::Refused if a cluster option is
/// given without --on slurm.
void part_overrides(RunArguments& arguments) {
  constexpr std::string_view cluster = "slurm.";
  const auto first = std::stable_partition(arguments.overrides.begin(), arguments.overrides.end(),
                                           [&](const std::string& word) { return !word.starts_with(cluster); });
  arguments.slurm.assign(first, arguments.overrides.end());
  arguments.overrides.erase(first, arguments.overrides.end());
  if (on_slurm(arguments) || (arguments.slurm.empty() && !arguments.slurm_file)) return;
  throw Refused(fmt::format("{} does nothing without --on slurm; add that, or leave it out",
                            arguments.slurm_file ? "--slurm" : "'" + arguments.slurm.front() + "'"));
}

/// The command line that repeats this command.
std::string same_command(const RunArguments& arguments, const Console& console) {
  std::vector<std::string> words{console.program, "run", arguments.config};
  words.insert(words.end(), arguments.overrides.begin(), arguments.overrides.end());
  if (on_slurm(arguments)) words.insert(words.end(), {"--on", arguments.on});
  if (arguments.slurm_file) words.insert(words.end(), {"--slurm", *arguments.slurm_file});
  words.insert(words.end(), arguments.slurm.begin(), arguments.slurm.end());
  if (arguments.out != "runs") words.insert(words.end(), {"--out", arguments.out});
  if (arguments.jobs > 0) words.insert(words.end(), {"--jobs", fmt::format("{}", arguments.jobs)});
  if (arguments.threads > 0) words.insert(words.end(), {"--threads", fmt::format("{}", arguments.threads)});
  if (arguments.as_json()) words.emplace_back("--json");
  return shell_words(words);
}

/// "2 unfinished runs saved a checkpoint": what is left of the runs that did not finish.
std::string saved_in_words(const Plan& plan, const std::filesystem::path& out) {
  std::vector<RunFolder> folders;
  for (const std::string& id : run_ids(plan)) folders.push_back({out / id});
  const std::vector<RunState> states = states_of(folders);
  std::size_t saved = 0;
  for (std::size_t i = 0; i < folders.size(); ++i)
    saved += states[i] == RunState::interrupted && !checkpoint_steps(folders[i]).empty();
  return saved == 0 ? "no unfinished run has a checkpoint"
                    : fmt::format("{} saved a checkpoint", counted(saved, "unfinished run"));
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
        count_final_runs(plan) == 1 ? (std::filesystem::path(arguments.out) / first).string()
                                    : (arguments.out + "/ID"));
  print(console.out, "  next      {}\n", command({"report", arguments.out, "--sweep", name}));
  if (plan.arms.size() > 1)
    print(console.out, "  all notes {}\n",
          command({"report", arguments.out, "--sweep", name, "--format", "terminal", "--notes", "all"}));
  if (!prepared.arms.front().config.data.path.empty() && !first.empty() &&
      task_format_of(prepared.arms.front().config) == TaskFormat::language_model) {
    std::vector<std::string> words{"generate", first, "--prompt", "..."};
    if (arguments.out != "runs") words.insert(words.end(), {"--out", arguments.out});
    print(console.out, "            {}\n", command(words));
  }
}

/// The runs that were still in Slurm's queue when this command ended.
struct LeftToSlurm {
  std::size_t runs = 0;
  std::set<std::string> jobs;
};

/// Executes the missing runs in Slurm's queue. Shows progress until all runs are done or the user leaves with Ctrl-C.
SweepResult run_in_slurm(const Preparation& prepared, Tasks& tasks, const RunArguments& arguments, LeftToSlurm& left,
                         Console& console) {
  const std::filesystem::path out = arguments.out;
  SlurmSettings settings = read_slurm_settings(arguments.slurm_file, arguments.slurm);
  if (arguments.jobs > 0) settings.at_once = arguments.jobs;
  if (arguments.threads > 0) settings.cpus = arguments.threads;
  if (settings.cpus == 0) settings.cpus = std::max<std::int64_t>(1, prepared.arms.front().config.train.threads);
  const int threads = static_cast<int>(std::min<std::int64_t>(settings.cpus, 4096));
  RunNeeds needs(prepared, tasks, out, threads);
  SlurmLauncher launcher(this_program(), out, prepared.plan.name, settings,
                         [&](const RunFolder& run) { return needs.of(run); });
  launcher.check();
  Executor executor(launcher, [&](std::size_t to_do) {
    return Allocation{static_cast<int>(std::min<std::size_t>(to_do, std::numeric_limits<int>::max())), threads};
  });
  const std::unique_ptr<SweepEvents> events = sweep_events(arguments.as_json(), prepared, out, &launcher, console);
  SweepResult result = run_sweep(prepared.plan, out, executor, *events, instruction_set_to_pin(true));
  left = {result.executed.left, launcher.jobs()};
  return result;
}

/// Executes the missing runs on this machine, and shows progress until they are done.
SweepResult run_here(const Preparation& prepared, const RunArguments& arguments, Console& console) {
  const std::filesystem::path out = arguments.out;
  LocalLauncher launcher;
  Executor executor(launcher, [&](std::size_t to_do) {
    return allocation_for(prepared, to_do, arguments.jobs, arguments.threads);
  });
  const std::unique_ptr<SweepEvents> events = sweep_events(arguments.as_json(), prepared, out, nullptr, console);
  return run_sweep(prepared.plan, out, executor, *events, instruction_set_to_pin(false));
}

/// Executes the missing runs one after the other. All processes that mpirun started compute each run together.
SweepResult run_together(const Preparation& prepared, const RunArguments& arguments, ProcessGroupLauncher& launcher,
                         Console& console) {
  const std::filesystem::path out = arguments.out;
  Executor executor(launcher, Allocation{1, std::max(1, arguments.threads)});
  const std::unique_ptr<SweepEvents> events = sweep_events(arguments.as_json(), prepared, out, nullptr, console);
  return run_sweep(prepared.plan, out, executor, *events, instruction_set_to_pin(false));
}

/// Each process computes some shards of every step. Throws heed::Refused if there are more processes than shards.
void require_shards_for(int processes, const Preparation& prepared) {
  const auto require = [&](std::size_t arm, const Cost& cost) {
    if (processes <= cost.shards) return;
    const std::string which = prepared.arms.size() == 1 ? "" : fmt::format(" of {}", prepared.plan.arms[arm].label);
    throw Refused(
        fmt::format("there are {} processes, and a step's batch{} is cut into {} shards: {} would have nothing "
                    "to do. Start {} at most, or raise train.shards, which makes it a different run",
                    processes, which, cost.shards, processes - cost.shards,
                    std::bit_floor(static_cast<std::uint64_t>(cost.shards))));
  };
  for (std::size_t a = 0; a < prepared.arms.size(); ++a) {
    require(a, prepared.arms[a].cost);
    for (const Load& trial : prepared.arms[a].trials) require(a, trial.cost);
  }
}

/// The message after Ctrl-C while runs are in Slurm's queue.
std::string left_in_words(const SweepResult& result, const LeftToSlurm& left, const RunArguments& arguments,
                          const Console& console) {
  return fmt::format("{} of {} runs are finished; {} wait or run in Slurm, and continue without this command.\n"
                     "      see their progress:  {}\n"
                     "      wait for them again: {}\n"
                     "      cancel them:         scancel {}",
                     result.runs - result.to_do, result.runs, left.runs,
                     shell_words({console.program, "status", arguments.out}), same_command(arguments, console),
                     fmt::join(left.jobs, " "));
}

/// @param report  null if the sweep was stopped
RunResult result_of(const SweepResult& result, boost::json::value report) {
  return {.sweep = result.folder.filename().string(),
          .folder = result.folder.string(),
          .runs = result.runs,
          .to_do = result.to_do,
          .finished = result.executed.finished,
          .failed = result.executed.failed,
          .interrupted = result.executed.interrupted,
          .remaining = result.executed.remaining,
          .report = std::move(report)};
}

/// Writes the last line of JSON.
/// @param problem  why the status is not 0
void answer(int status, const std::string& problem, const RunResult& result, Console& console) {
  std::vector<Diagnostic> diagnostics = console.notes;
  if (!problem.empty()) diagnostics.push_back(failure_of(problem));
  console.data << json_line(envelope("run", status, described::value_of(result), diagnostics));
  console.data.flush();
  console.has_answered = true;
}

int run(const RunArguments& arguments, ProcessGroupLauncher* group, Console& console) {
  Tasks tasks;
  const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks, arguments.out);
  check_sense(prepared, arguments.out, console);
  if (group) require_shards_for(group->processes(), prepared);
  LeftToSlurm left;
  const SweepResult result = group                 ? run_together(prepared, arguments, *group, console)
                             : on_slurm(arguments) ? run_in_slurm(prepared, tasks, arguments, left, console)
                                                   : run_here(prepared, arguments, console);

  // After Ctrl-C, the user wants the terminal back: `heed report` shows the results so far.
  const auto stop = [&](const std::string& why) {
    if (arguments.as_json()) answer(128 + StopSignals::last(), why, result_of(result, nullptr), console);
    throw Stopped(why);
  };
  if (result.stopped() && left.runs == 0)
    stop(fmt::format("stopped with {} of {} runs done; {}. Resume{} with\n      {}", result.runs - result.to_do,
                     result.runs, saved_in_words(result.plan, arguments.out),
                     arguments.config == "-" ? ", with the same config on standard input," : "",
                     same_command(arguments, console)));

  if (left.runs > 0) stop(left_in_words(result, left, arguments, console));

  const ReportData report = report_of_sweep(result.plan, arguments.out, result.folder, false, tasks);
  const std::string shortfall = shortfall_in_words(report, result.executed.failed, result.to_do);
  if (arguments.as_json()) {
    const int status = shortfall.empty() ? 0 : 1;
    answer(status, shortfall, result_of(result, report_document(report)), console);
    return status;
  }
  console.out << render_terminal(report, console.out_style, results_width(console), false);
  say_where(prepared, result.plan, result.folder, arguments, console);
  console.out.flush();

  if (!shortfall.empty()) throw Failed(fmt::format("{}\n      {}", shortfall, same_command(arguments, console)));
  return 0;
}

WorkerParts parts_of_worker() {
  return {[](const Config& config, const std::string& kernels) -> const Engine& { return engine(config, kernels); },
          make_task, task_format_of, this_build()};
}

/// Makes all processes choose the same instruction set, whatever their CPUs support.
void agree_on_instruction_set(Ranks& ranks) {
  std::vector<std::vector<std::string>> all;
  Packed own;
  for (const std::string& kernels : usable_instruction_sets()) own.add_text(kernels);
  for (const std::string& words : gather(ranks, own.add_text("").take())) {
    Unpacked unpacked(words);
    all.emplace_back();
    for (std::string kernels = unpacked.text(); !kernels.empty(); kernels = unpacked.text())
      all.back().push_back(std::move(kernels));
  }
  limit_instruction_sets(all);
}

/// The main function of the first process of several. However this function ends, the other processes must not wait for
/// it.
int lead(MpiRanks& ranks, const RunArguments& arguments, Console& console) {
  ProcessGroupLauncher launcher(ranks, parts_of_worker());
  const auto end = [&](int status) {
    console.out.flush();
    console.data.flush();
    if (launcher.broken()) ranks.abort(status);
    announce_end(ranks);
    ranks.finish();
  };
  try {
    if (arguments.jobs > 0 || on_slurm(arguments))
      throw Refused(fmt::format("{} does nothing if mpirun started several processes: they train each run together, "
                                "one run after the other; leave it out",
                                arguments.jobs > 0 ? "--jobs" : "--on slurm"));
    const int status = run(arguments, &launcher, console);
    end(status);
    return status;
  } catch (const std::exception& error) {
    if (launcher.broken()) console.err << "heed: " << failure_in_words(error) << std::endl;
    end(1);
    throw;
  }
}

/// The main function of every other process.
int follow_first(MpiRanks& ranks, Console& console) {
  const StopSignals patient(true); // the first process decides when to stop
  try {
    follow(ranks, parts_of_worker());
    ranks.finish();
    return 0;
  } catch (const std::exception& error) {
    // If the error occurs in all processes, the first process reports it and ends all others during this wait.
    constexpr std::chrono::seconds for_the_first{5};
    std::this_thread::sleep_for(for_the_first);
    console.err << fmt::format("heed: process {} of {}, on {}: {}\n      the run stops; its last checkpoint is saved",
                               ranks.rank(), ranks.count(), this_machine().host, failure_in_words(error))
                << std::endl;
  }
  ranks.abort(1);
  return 1;
}

int run_command(const RunArguments& given, Console& console) {
  RunArguments arguments = given;
  static_cast<void>(arguments.as_json()); // refuses two formats, before any work
  part_overrides(arguments);
  if (processes_of_mpi() == 1) return run(arguments, nullptr, console);
  agree_to_begin({.runs = true, .problem = {}});
  MpiRanks& ranks = mpi_ranks();
  if (ranks.count() == 1) return run(arguments, nullptr, console);
  agree_on_instruction_set(ranks);
  return ranks.rank() == 0 ? lead(ranks, arguments, console) : follow_first(ranks, console);
}

} // namespace

void add_run(Commands& commands) {
  add_command<RunArguments>(
      commands, "run", "run a config: train the missing runs, then show the results",
      "Examples:\n"
      "  heed run configs/quickstart.toml\n"
      "  heed run configs/quickstart.toml train.steps=500 attention.score=cosine\n"
      "  heed run configs/papers/nanogpt-char.toml data.path=tinyshakespeare.txt --threads 2\n"
      "A config with a [sweep] has a run for each arm and seed; any other config has a single run. Finished runs are\n"
      "not repeated. Interrupted runs resume from their last checkpoint, with bit-identical results.\n"
      "With --on slurm, runs go to a cluster's queue and do not need this command. Run it again to wait for them.\n"
      "Options of the cluster (never of a run) are slurm.account, .partition, .qos, .time, .memory, .cpus,\n"
      ".at_once, .task_minutes and .options: as overrides (slurm.partition=short), or in the table [slurm] of a file.\n"
      "Started by mpirun -np N, N processes train each run together, bit-identically; --threads is per process [1].\n"
      "Overrides: a.b=value, read by the option's type; a.b=@default resets it (heed options lists all options).",
      [](Command& command, RunArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add("--out FOLDER", arguments.out, "the folder for runs and sweeps [runs]");
        command.add("--on PLACE", arguments.on, "where runs are executed: \"here\" or \"slurm\" [here]")
            .one_of({"here", "slurm"});
        command.add("--slurm FILE", arguments.slurm_file, "a file with a table [slurm] [~/.config/heed/slurm.toml]");
        command.add("--jobs", arguments.jobs, "run at most N at the same time [as the machine allows]").within(1, 4096);
        command.add("--threads", arguments.threads, "threads of each run [1, more if there are fewer runs than cores]")
            .within(1, 4096);
        add_json_option(command, arguments.result);
        command.argument("--format").description("terminal; json: lines of progress, then the result [terminal]");
      },
      run_command);
}

} // namespace heed
