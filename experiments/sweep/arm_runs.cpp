#include "experiments/sweep/arm_runs.hpp"

#include "autograd/error.hpp"

namespace heed {

ArmsOfRuns arms_of_runs(const std::filesystem::path& out) {
  ArmsOfRuns found;
  for (const std::filesystem::path& folder : sweep_folders(out)) {
    Plan plan;
    try {
      plan = load_plan(folder);
    } catch (const Refused& error) {
      found.problems.emplace_back(error.what());
      continue;
    }
    if (plan.arms.size() < 2) continue;
    // `emplace` keeps the label of a more recent sweep.
    const auto add = [&](const std::vector<PlannedRun>& runs) {
      for (const PlannedRun& run : runs)
        if (!run.id.empty()) found.labels.emplace(run.id, plan.arms.at(run.arm).label);
    };
    add(plan.runs);
    if (plan.variation) add(plan.variation->runs);
    if (plan.tuning) add(plan.tuning->runs);
  }
  return found;
}

} // namespace heed
