#include "experiments/actions/plan_estimate.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/sweep/tuning.hpp"

#include <algorithm>
#include <chrono>

namespace heed {

namespace {

/// Seconds of measurement for all arms together; most and least seconds for one arm.
constexpr double all_probes = 6.0, longest_probe = 1.0, shortest_probe = 0.1;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// Seconds per training step of `config`, measured for about `budget` seconds; no result is saved.
double seconds_per_step(Config config, const Task& task, int threads, double budget) {
  config.train.threads = threads;
  config.train.evaluate_every = 0;
  config.train.checkpoint_every = 0;
  const Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> start;
  std::int64_t first = 0, last = 0;
  double seconds = 0;
  TrainingHooks hooks;
  hooks.measured = [](const MetricsRecord&) {};
  hooks.checkpoint = [](const Checkpoint&) {};
  hooks.progress = [&](const Progress& progress) {
    // The first steps allocate memory, so timing starts after step 3, or earlier if the budget is already used up.
    if (!start && (progress.step >= 3 || seconds_since(begin) >= budget)) {
      start = Clock::now();
      first = progress.step;
    }
    last = progress.step;
    if (start) seconds = seconds_since(*start);
  };
  hooks.stop_requested = [&] { return seconds >= budget; };
  engine(config).train(config, task, std::nullopt, hooks);
  return last > first ? seconds / static_cast<double>(last - first) : 0;
}

/// `seconds_per_step`; empty if training fails. The run itself will report the failure; the plan is still valid.
std::optional<double> probed(const Config& config, const Task& task, int threads, double budget) {
  try {
    return seconds_per_step(config, task, threads, budget);
  } catch (const Failed&) {
    return std::nullopt;
  }
}

/// Estimated seconds of training of a run of each arm. Arms beyond the budget are estimated from the first one by
/// FLOPs.
std::vector<double> run_seconds(const Preparation& prepared, Tasks& tasks, int threads) {
  const double each = all_probes / static_cast<double>(prepared.arms.size());
  const double budget = std::clamp(each, shortest_probe, longest_probe);
  std::vector<double> seconds;
  const Clock::time_point begin = Clock::now();
  double per_flop = 0;
  for (const PreparedArm& arm : prepared.arms) {
    double step = arm.cost.flops_per_step * per_flop;
    if (seconds_since(begin) < all_probes) {
      step = probed(arm.config, tasks.of(arm.config), threads, budget).value_or(step);
      if (seconds.empty()) per_flop = step / arm.cost.flops_per_step;
    }
    seconds.push_back(step * static_cast<double>(arm.config.train.steps));
  }
  return seconds;
}

/// All runs of a plan with their states.
std::vector<EstimatedRun> look_for_runs(const Plan& plan, const std::filesystem::path& out) {
  std::vector<EstimatedRun> runs;
  each_run(plan, [&](const PlannedRun& run, const Trial* trial) {
    const RunState state = run.id.empty() ? RunState::missing : state_of(RunFolder{out / run.id});
    runs.push_back({&run, trial, state, {}, 0});
  });
  return runs;
}

} // namespace

Estimate estimate(const Preparation& prepared, Tasks& tasks, const std::filesystem::path& out, int jobs, int threads,
                  bool probe) {
  Estimate e;
  e.runs = look_for_runs(prepared.plan, out);
  for (EstimatedRun& run : e.runs) {
    run.load = load_of(prepared, prepared.plan, run.run->arm, run.trial);
    e.finished += run.state == RunState::finished;
    if (run.state != RunState::finished) e.flops += run.load.flops();
  }
  e.share = allocation_for(prepared, std::max<std::size_t>(e.to_do(), 1), jobs, threads);
  e.bytes = largest_bytes(prepared, e.share.threads) * e.share.jobs;
  if (!probe || e.to_do() == 0) return e;
  e.arm_seconds = run_seconds(prepared, tasks, e.share.threads);
  double total = 0;
  for (EstimatedRun& run : e.runs) {
    const PreparedArm& arm = prepared.arms.at(run.run->arm);
    const double flops = Load{arm.config.train.steps, arm.cost}.flops();
    run.seconds = flops > 0 ? e.arm_seconds[run.run->arm] * run.load.flops() / flops : 0;
    if (run.state != RunState::finished) total += run.seconds;
  }
  e.seconds = total / e.share.jobs;
  return e;
}

RunNeed RunNeeds::of(const RunFolder& run) {
  if (!measured_) measure();
  const auto known = seconds_.find(run.id());
  return {known == seconds_.end() ? longest_ : known->second, bytes_};
}

void RunNeeds::measure() {
  const Estimate measured = estimate(prepared_, tasks_, out_, 1, threads_, true);
  for (const EstimatedRun& run : measured.runs) {
    if (!run.run->id.empty()) seconds_[run.run->id] = run.seconds;
    longest_ = std::max(longest_, run.seconds); // used for a replicate whose arm is not tuned yet
  }
  bytes_ = measured.bytes;
  measured_ = true;
}

} // namespace heed
