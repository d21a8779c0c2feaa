// What is to be known before anything runs: a configuration with its plan, each arm checked, and what it takes.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/launch/executor.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace heed {

/// Tasks by what makes them, so that a file is read once for all arms.
class Tasks {
public:
  /// Throws heed::Refused where the data is not usable.
  const Task& of(const Config& config) { return *made(config).task; }
  /// Bytes of memory that its data took when it was made; 0 where that is little.
  double bytes_of(const Config& config) { return made(config).bytes; }

private:
  struct Made {
    std::unique_ptr<Task> task;
    double bytes = 0;
  };
  const Made& made(const Config& config);

  std::map<std::string, Made> made_;
};

/// How the configuration's model sees its task.
Form form_of(const Config& config);

/// What a run of the configuration costs. Throws heed::Refused where data or model are not usable.
Cost cost_of(const Config& config, Tasks& tasks);

/// The chance level of a configuration. Throws heed::Refused where the data is not usable.
Task::Chance chance_of(const Config& config, Tasks& tasks);

/// Why the configuration's model sees what it is to predict (`target_sight`); empty where it doesn't. Throws
/// heed::Refused where the data is not usable.
std::string sight_of(const Config& config, Tasks& tasks);

/// The metric's name, direction and unit; steps_to(METRIC, VALUE) is one, too (metrics/steps_to.hpp), whose greatest value is that
/// of a run which never gets there: one evaluation beyond the configuration's last step. A metric that the configuration's runs do not have is heed::Refused.
/// @param option  that names it
Metric metric_of(const Config& config, const std::string& name, const std::string& option = "report.metric");

/// What a run takes.
struct Load {
  std::int64_t steps = 0;
  Cost cost;
  double flops() const { return cost.flops_per_step * static_cast<double>(steps); }
};

struct PreparedArm {
  Config config; ///< of the arm's first run; where it is tuned, of its first trial
  Cost cost;
  std::vector<Load> trials;               ///< as in the plan's tuning
  std::string sight = {};                 ///< why its model sees what it is to predict; empty: it doesn't
  std::int64_t untrained_positions = 0;   ///< learned ones that only rows beyond training's longest have
  std::vector<std::string> warnings = {}; ///< of its task: what in the data is likely a mistake
};

struct Preparation {
  Settings settings;
  Plan plan;
  std::vector<PreparedArm> arms; ///< as in the plan
  Metric metric;
};

/// Plans; makes the task of each arm, with each point that it tries, asks the engine about its model, and whether it
/// can be compared with the reference. Throws heed::Refused, so that nothing that can't run is ever started.
/// @param fallback_name  where the configuration has no `name`: the file's
Preparation prepare(Settings settings, const std::string& fallback_name, Tasks& tasks);

/// What a run of the arm takes: of tuning with this trial, and of a replicate (none) with what the arm chose in `plan`;
/// before it has, with its first trial.
Load load_of(const Preparation& prepared, const Plan& plan, std::size_t arm, const Trial* trial);

/// Of memory, what the greatest run of any arm or trial takes.
double largest_bytes(const Preparation& prepared, int threads);

/// How many runs at once and with how many threads, where so many are to do on this machine.
/// @param jobs, threads  what was asked for; 0: find out
Allocation allocation_for(const Preparation& prepared, std::size_t to_do, int jobs, int threads);

} // namespace heed
