#include "experiments/actions/sweep_report.hpp"

#include "experiments/actions/refresh_attention.hpp"
#include "experiments/actions/refresh_examples.hpp"
#include "experiments/sweep/plan_checks.hpp"
#include "experiments/tasks/task_info.hpp"

namespace heed {

namespace {

/// The facts of a report that depend on an arm's configuration and data.
ArmFacts facts_of(const Config& config, Tasks& tasks) {
  ArmFacts facts{chance_of(config, tasks), leakage_of(config, tasks)};
  for (const std::int64_t length : config.train.evaluate_lengths)
    if (const Task* task = tasks.of(config).of_length(length))
      facts.at_lengths[length] = task->chance(task_format_of(config));
  if (!task_info(config.task.kind).running_text)
    facts.examples = evaluated_sequences(config, tasks.of(config), task_format_of(config));
  return facts;
}

} // namespace

ReportData report_of_sweep(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
                           bool shows_attention) {
  Tasks tasks;
  return report_of_sweep(plan, out, folder, shows_attention, tasks);
}

ReportData report_of_sweep(const Plan& plan, const std::filesystem::path& out, const std::filesystem::path& folder,
                           bool shows_attention, Tasks& tasks) {
  AttentionProblems problems;
  if (shows_attention) problems = refresh_attention(plan, out);
  const ExampleProblems without_examples = refresh_examples(plan, out, tasks);
  ReportData data = collect_report(plan, out, folder, [&](const Config& config) { return facts_of(config, tasks); });
  for (ReportArm& arm : data.arms)
    for (ReportRun& run : arm.runs) {
      if (const auto found = without_examples.find(run.id); found != without_examples.end())
        run.examples_problem = found->second;
      if (const auto found = problems.find(run.id); found != problems.end()) run.attention_problem = found->second;
    }
  return data;
}

} // namespace heed
