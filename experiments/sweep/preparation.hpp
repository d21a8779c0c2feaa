// Prepares a sweep before any run starts: expands the plan, checks each arm, and measures what the runs cost.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/config/settings.hpp"
#include "experiments/launch/executor.hpp"
#include "experiments/metrics/metric.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/runs/run_start.hpp"
#include "experiments/sweep/plan.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// Caches tasks by the settings that determine them, so that a data file is read only once for all arms.
class Tasks {
public:
  struct Made {
    std::unique_ptr<Task> task;
    double bytes = 0; ///< memory that the task's data took when it was created; 0 if small
  };
  /// The task of a configuration. Throws heed::Refused if the data is not usable.
  const Task& of(const Config& config) { return *made(config).task; }
  const Made& made(const Config& config);

private:
  std::map<std::string, Made> made_;
};

/// How the configuration's model sees its task.
TaskFormat task_format_of(const Config& config);

/// The cost of a run of the configuration. Throws heed::Refused if the data or the model is not usable.
Cost cost_of(const Config& config, Tasks& tasks);

/// The chance level of a configuration. Throws heed::Refused if the data is not usable.
Task::Chance chance_of(const Config& config, Tasks& tasks);

/// The reason why the configuration's model can see its prediction targets (`target_leakage`); empty if it cannot.
/// Throws heed::Refused if the data is not usable.
std::string leakage_of(const Config& config, Tasks& tasks);

/// The metric of this name. steps_to(METRIC, VALUE) is also a metric (metrics/metric.hpp); its largest value is that
/// of a run that never reaches VALUE: one evaluation after the configuration's last step. Throws heed::Refused if the
/// configuration's runs do not have the metric.
/// @param option  the option that names the metric, for the error
Metric metric_of(const Config& config, const std::string& name, const std::string& option = "report.metric");

/// An error's message, followed by the places in the files of the options that it names as table.name or "[table]
/// name": "MESSAGE (position.kind: copy.toml:7:8)". An option that has another value in `config` than in `settings`,
/// because an arm sets it, is left out.
std::string with_places(const std::string& message, const Config& config, const Settings& settings);

/// The computation of one run.
struct Load {
  std::int64_t steps = 0;
  Cost cost;
  double flops() const { return cost.flops_per_step * static_cast<double>(steps); }
};

struct PreparedArm {
  Config config; ///< of the arm's first run; if it is tuned, of its first trial
  Cost cost;
  std::vector<Load> trials;              ///< as in the plan's tuning
  std::string leakage = {};              ///< why its model can see its prediction targets; empty if it cannot
  std::optional<StartRecord> start = {}; ///< what it takes from its [train] start
  /// Learned positions that only sequences longer than all training sequences use.
  std::int64_t untrained_positions = 0;
  std::vector<std::string> warnings = {}; ///< likely mistakes in its task's data
  /// a note if no sequence has two segments; empty: some has, or it has none to have
  std::string missing_segment_end = {};
  std::vector<QueryWithoutKeys> queries_without_keys = {}; ///< only with formulas, and not for models above 1 GB
};

struct Preparation {
  Settings settings;
  Plan plan;
  std::vector<PreparedArm> arms; ///< as in the plan
  Metric metric;
};

/// Makes the plan and checks each arm with each of its trials: creates the task, asks the engine about the model, and
/// checks that the arm can be compared with the reference. Throws heed::Refused for any arm that cannot run, so that no
/// run is started.
/// @param fallback_name  the file's name, used if the configuration has no `name`
/// @param out            the output folder, with the runs of [train] start
Preparation prepare(Settings settings, const std::string& fallback_name, Tasks& tasks,
                    const std::filesystem::path& out = {});

/// The file's settings with the overrides; the file "-" is standard input. Throws heed::Refused.
Settings load_settings(const std::filesystem::path& file, const std::vector<std::string>& overrides);

/// The checked plan of these settings. Throws heed::Refused.
/// @param out  the output folder, with the runs of [train] start
Preparation prepare(const std::filesystem::path& file, const std::vector<std::string>& overrides, Tasks& tasks,
                    const std::filesystem::path& out);
/// The same for settings that no file has.
/// @param name   the plan's name, if the settings have none
/// @param where  what gives the overrides, for messages
Preparation prepare(Settings settings, const std::string& name, const std::vector<std::string>& overrides,
                    const std::string& where, Tasks& tasks, const std::filesystem::path& out);

/// The computation of a run of the arm: of tuning with this trial; with no trial, of a replicate with the arm's choice
/// in `plan`, or with its first trial if it has not chosen yet.
Load load_of(const Preparation& prepared, const Plan& plan, std::size_t arm, const Trial* trial);

/// The largest memory of any run, over all arms and trials.
double largest_bytes(const Preparation& prepared, int threads);

/// The most threads that any run can use, over all arms and trials.
int useful_threads(const Preparation& prepared);

/// How many runs are executed at once, each with how many threads, if `to_do` runs remain on this machine.
/// @param jobs, threads  the requested numbers; 0: chosen automatically
Allocation allocation_for(const Preparation& prepared, std::size_t to_do, int jobs, int threads);

/// The runs from which the runs of a plan start ([train] start). Reads each of these runs once. Only names, shapes and
/// checksums of their weights stay in memory.
class Starts {
public:
  /// @param out  the output folder with these runs; empty: there is none, and every [train] start is refused
  explicit Starts(std::filesystem::path out) : out_(std::move(out)) {}

  /// The full ID and the checksum of a run, given by its ID or a unique beginning. Throws heed::Refused if it cannot be
  /// a start (read_start).
  Settings::Start find(const std::string& run);

  /// What a run of the configuration takes from its start; empty if it has none. Throws heed::Refused if they do not
  /// agree (check_start). The configuration is one of settings that `find` completed.
  std::optional<StartRecord> check(const Config& config, Tasks& tasks);

private:
  const StartRun& of(const std::string& id);

  std::filesystem::path out_;
  std::map<std::string, StartRun> known_;
};

} // namespace heed
