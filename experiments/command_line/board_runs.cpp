#include "experiments/command_line/board_runs.hpp"

#include "experiments/command_line/preparation.hpp"
#include "experiments/sweep/reference_name.hpp"
#include "experiments/sweep/tuning.hpp"

#include <fmt/format.h>

namespace heed {

namespace {

/// @param labels  of the arms
std::string label_of(const std::vector<std::string>& labels, const PlannedRun& run) {
  const std::string seed = fmt::format("seed {}", run.seed);
  return labels.size() == 1 ? seed : fmt::format("{}, {}", labels.at(run.arm), seed);
}

} // namespace

std::vector<BoardRun> board_runs(const Preparation& prepared, const Plan& plan) {
  std::vector<BoardRun> runs;
  const std::vector<std::string> labels = named_labels(plan, prepared.arms.front().config);
  const auto add = [&](const std::string& label, std::size_t arm, const Trial* trial) {
    const Load load = load_of(prepared, plan, arm, trial);
    runs.push_back({label, load.steps, load.flops()});
  };
  if (plan.tuning) {
    const std::vector<const Trial*> trials = trials_by_run(*plan.tuning);
    for (std::size_t i = 0; i < trials.size(); ++i)
      add(fmt::format("tuning {}: {}", short_words(*trials[i]), label_of(labels, plan.tuning->runs[i])),
          plan.tuning->runs[i].arm, trials[i]);
  }
  for (const PlannedRun& run : plan.runs) add(label_of(labels, run), run.arm, nullptr);
  return runs;
}

std::string start_in_words(const SweepStart& start) {
  const std::size_t before = start.runs - start.to_do;
  return size_in_words(start.plan) + (start.to_do == 0 ? "; all had been trained by an earlier command"
                                      : before > 0     ? fmt::format("; {} done before", before)
                                                       : "");
}

} // namespace heed
