// What several commands need before anything runs: a configuration with its plan, each arm checked.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/report/report_data.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heed {

/// Tasks by what makes them, so that a file is read once for all arms.
class Tasks {
public:
  /// Throws heed::Refused where the data is not usable.
  const Task& of(const Config& config);

private:
  std::map<std::string, std::unique_ptr<Task>> made_;
};

/// How the configuration's model sees its task.
Form form_of(const Config& config);

/// Parameters, cost and chance level of a configuration. Throws heed::Refused where data or model are not usable.
ArmFacts facts_of(const Config& config, Tasks& tasks);

/// What a run takes.
struct Load {
  std::int64_t steps = 0;
  Cost cost;
  double flops() const { return cost.flops_per_step * static_cast<double>(steps); }
};

struct PreparedArm {
  Config config;                       ///< of the arm's first run; where it is tuned, of its first trial
  ArmFacts facts;
  std::vector<Load> trials;            ///< as in the plan's tuning
};

struct Preparation {
  Settings settings;
  Plan plan;
  std::vector<PreparedArm> arms;       ///< as in the plan
  MetricInfo metric;
};

/// Reads, overrides, resolves and plans; makes the task of each arm, with each point that it tries, asks the engine
/// about its model, and whether it can be compared with the reference. Throws heed::Refused, so that nothing that can't
/// run is ever started.
Preparation prepare(const std::filesystem::path& file, const std::vector<std::string>& overrides, Tasks& tasks);

/// What a run of the arm takes: of tuning with this trial, and of a replicate (none) with what the arm chose in `plan`;
/// before it has, with its first trial.
Load load_of(const Preparation& prepared, const Plan& plan, std::size_t arm, const Trial* trial);

/// Of memory, what the greatest run of any arm or trial takes.
double largest_bytes(const Preparation& prepared, int threads);

/// The file's settings with the overrides. Throws heed::Refused.
Settings load_settings(const std::filesystem::path& file, const std::vector<std::string>& overrides);

/// "66 runs: 11 arms x 6 seeds".
std::string size_in_words(const Plan& plan);

/// Words of a command line as a shell would take them.
std::string shell_words(const std::vector<std::string>& words);

} // namespace heed
