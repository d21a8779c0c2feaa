// heed plan: what a configuration would run, and what that costs.
#include "experiments/command_line/commands.hpp"
#include "experiments/command_line/preparation.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/report/text_table.hpp"
#include "experiments/sweep/executor.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace heed {

namespace {

struct PlanArguments {
  std::string config, out = "runs";
  std::vector<std::string> overrides;
  int jobs = 0, threads = 0;
  bool no_probe = false;
};

/// Seconds that are spent on measuring all arms together, and at most on one.
constexpr double all_probes = 6.0, longest_probe = 1.0, shortest_probe = 0.1;

/// Seconds of training a step of `config`, measured for about `budget` seconds; nothing of it is kept.
double seconds_per_step(Config config, const Task& task, int threads, double budget) {
  config.train.threads = threads;
  config.train.evaluate_every = 0;
  config.train.checkpoint_every = 0;
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> start;
  std::int64_t first = 0, last = 0;
  double seconds = 0;
  TrainingHooks hooks;
  hooks.measured = [](const Metrics&) {};
  hooks.checkpoint = [](const Checkpoint&) {};
  hooks.progress = [&](const Progress& progress) {
    // The first steps allocate; time starts behind them.
    if (!start && progress.step >= 3) {
      start = Clock::now();
      first = progress.step;
    }
    last = progress.step;
    if (start) seconds = std::chrono::duration<double>(Clock::now() - *start).count();
  };
  hooks.stop_requested = [&] { return seconds >= budget; };
  engine(config).train(config, task, std::nullopt, hooks);
  return last > first ? seconds / static_cast<double>(last - first) : 0;
}

/// Seconds that a run of each arm will train, about; the arms that the budget does not reach by the first one's FLOPs.
std::vector<double> run_seconds(const Preparation& prepared, Tasks& tasks, int threads) {
  const double each = all_probes / static_cast<double>(prepared.arms.size());
  const double budget = std::clamp(each, shortest_probe, longest_probe);
  std::vector<double> seconds;
  double spent = 0, per_flop = 0;
  for (const PreparedArm& arm : prepared.arms) {
    double step = arm.facts.cost.flops_per_step * per_flop;
    if (spent < all_probes) {
      step = seconds_per_step(arm.config, tasks.of(arm.config), threads, budget);
      spent += budget;
      if (seconds.empty()) per_flop = step / arm.facts.cost.flops_per_step;
    }
    seconds.push_back(step * static_cast<double>(arm.config.train.steps));
  }
  return seconds;
}

std::string changes_of(const Arm& arm) {
  std::string text;
  for (const PlannedChange& change : arm.changes)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", change.key, change.value);
  return text;
}

/// Whether the arm's name tells what it changes: "score = dot".
bool says_it_all(const Arm& arm) {
  return arm.changes.empty() || (arm.changes.size() == 1 && arm.label.ends_with("= " + arm.changes.front().value));
}

int plan(const PlanArguments& arguments, Console& console) {
  Tasks tasks;
  const Preparation prepared = prepare(arguments.config, arguments.overrides, tasks);
  const Plan& plan = prepared.plan;

  std::vector<bool> finished;
  double flops = 0, bytes = 0;
  for (const PlannedRun& run : plan.runs) {
    const PreparedArm& arm = prepared.arms.at(run.arm);
    bytes = std::max(bytes, arm.facts.cost.bytes(std::max(1, arguments.threads)));
    finished.push_back(state_of(RunFolder{std::filesystem::path(arguments.out) / run.id}) == RunState::finished);
    if (!finished.back()) flops += arm.facts.cost.flops_per_step * static_cast<double>(arm.config.train.steps);
  }
  const auto done = static_cast<std::size_t>(std::count(finished.begin(), finished.end(), true));
  const std::size_t to_do = plan.runs.size() - done;
  const PreparedArm& reference = prepared.arms.front();
  const int threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(reference.config.train.threads);
  const Share share = share_machine(this_machine(), std::max<std::size_t>(to_do, 1), bytes, arguments.jobs, threads);
  const bool probe = to_do > 0 && !arguments.no_probe;
  const std::vector<double> seconds = probe ? run_seconds(prepared, tasks, share.threads) : std::vector<double>{};

  double largest = 0;
  for (const PlannedRun& run : plan.runs)
    largest = std::max(largest, prepared.arms.at(run.arm).facts.cost.bytes(share.threads));
  const double together = largest * share.jobs;

  TextTable table{{"arm", "runs", "parameters", "FLOPs/step", "steps", "memory", "time/run"},
                  {Align::left, Align::right, Align::right, Align::right, Align::right, Align::right, Align::right},
                  {}};
  for (std::size_t i = 0; i < plan.arms.size(); ++i) {
    const PreparedArm& arm = prepared.arms[i];
    const Cost& cost = arm.facts.cost;
    table.rows.push_back({plan.arms[i].label, fmt::format("{}", plan.arms[i].runs.size()), with_commas(cost.parameters),
                          scaled(cost.flops_per_step, ""), with_commas(arm.config.train.steps), scaled(cost.bytes(share.threads), "B"),
                          probe ? "~ " + duration(seconds[i]) : "-"});
  }
  fmt::print(console.out, "{}  {}, compared by {} ({})\n\n", console.out_style.bold(plan.name), size_in_words(plan),
             prepared.metric.name, prepared.metric.higher_is_better ? "higher is better" : "lower is better");
  console.out << to_text(table) << "\n";
  bool explained = false;
  for (const Arm& arm : plan.arms)
    if (!says_it_all(arm)) {
      fmt::print(console.out, "  {}: {}\n", arm.label, changes_of(arm));
      explained = true;
    }
  if (explained) console.out << "\n";

  fmt::print(console.out, "  to do    {} of {} runs ({} finished in {}), {}\n", to_do, plan.runs.size(), done,
             arguments.out, scaled(flops, "FLOPs"));
  fmt::print(console.out, "  machine  {} at a time, {} thread{} each, about {} of memory together\n", share.jobs,
             share.threads, share.threads == 1 ? "" : "s", scaled(together, "B"));
  if (probe) {
    double total = 0;
    for (std::size_t i = 0; i < plan.runs.size(); ++i)
      if (!finished[i]) total += seconds[plan.runs[i].arm];
    fmt::print(console.out, "  time     about {}, from some steps of each arm; evaluations come on top\n",
               duration(total / share.jobs));
  }
  return 0;
}

} // namespace

void add_plan(Commands& commands) {
  add_command<PlanArguments>(
      commands, "plan", "what a config would run: how many, parameters, FLOPs, memory, time; keeps nothing",
      "Examples:\n"
      "  heed plan configs/quickstart.toml\n"
      "  heed plan configs/quickstart.toml train.steps=5000 --no-probe\n"
      "The time comes from training each arm for a moment." +
          std::string(exit_statuses),
      [](CLI::App& command, PlanArguments& arguments) {
        add_config(command, arguments.config, arguments.overrides);
        command.add_option("--out", arguments.out, "the folder in which runs may be finished already [runs]")
            ->type_name("FOLDER");
        add_number(command, "--jobs", arguments.jobs, "runs at once [as the machine allows]", 1, 4096);
        add_number(command, "--threads", arguments.threads, "threads of each run [as the machine allows]", 1, 4096);
        command.add_flag("--no-probe", arguments.no_probe, "do not measure, and leave out the time");
      },
      plan);
}

} // namespace heed
