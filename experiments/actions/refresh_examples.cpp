#include "experiments/actions/refresh_examples.hpp"

#include "experiments/actions/trained_run.hpp"
#include "experiments/report/example_scores.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/failure.hpp"
#include "experiments/system/polling.hpp"

#include <vector>

namespace heed {

namespace {

void refresh(const RunFolder& run, Tasks& tasks) {
  const auto kept = read_example_scores(run);
  require_readable(kept);
  const std::vector<std::int64_t> steps = checkpoint_steps(run);
  if (kept && !kept->examples.empty() && (steps.empty() || kept->step == steps.front())) return;
  std::vector<std::string> damaged;
  const Config config = read_config(run);
  const Checkpoint weights = trained_weights(run, config, 1, damaged);
  const Task& task = tasks.of(config);
  require_data_of_run(run, config, task);
  const Engine& by = engine(config, instruction_set_of_run(run, config));
  if (!kept) run.examples().set_aside();
  write_example_scores(run, {step_of(weights).value.value_or(0), by.example_scores(config, task, weights)});
}

} // namespace

ExampleProblems refresh_examples(const Plan& plan, const std::filesystem::path& out, Tasks& tasks) {
  ExampleProblems problems;
  if (!plan.examples) return problems;
  for (const PlannedRun& planned : plan.runs) {
    poll_caller();
    const RunFolder run{out / planned.id};
    if (planned.id.empty() || state_of(run) != RunState::finished) continue;
    try {
      refresh(run, tasks);
    } catch (const std::exception& problem) {
      problems[planned.id] = failure_in_words(problem);
    }
  }
  return problems;
}

} // namespace heed
