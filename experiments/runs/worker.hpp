// Executes one run in this process, from reading its folder's config.toml to the run's end. In a process group, the
// first process owns the run's folder and tells the others which run to train.
#pragma once

#include "experiments/engines/engine.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/tasks/task.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>

namespace heed {

/// A run that a process group is about to train, continued from the checkpoint of `step`; -1: from the start.
struct ProcessGroupRun {
  RunFolder run;
  int threads = 0; ///< per process
  std::int64_t step = -1;
  std::string kernels = {};
};

/// Exit status of run_worker if a file can't be read at the moment but may be readable later.
inline constexpr int untouched = 3;

/// The dependencies of a worker. The program passes `heed::engine` and `heed::make_task`; tests pass their own.
struct WorkerParts {
  std::function<const Engine&(const Config&, const std::string& kernels)> engine;
  std::function<std::unique_ptr<Task>(const Config&)> make_task;
  std::function<TaskFormat(const Config&)> task_format_of; ///< how the configuration's model sees its task
  Build build;
  std::string kernels = {}; ///< the sweep's instruction set, used unless the configuration names one
  /// Gets the reason of a failure, in addition to the manifest and standard error, because a full disk may not store
  /// these.
  std::function<void(std::string_view)> tell = [](std::string_view) {};
  std::FILE* log = stderr; ///< output for messages
  /// Whether to save a checkpoint and return. If empty: on SIGINT or SIGTERM.
  std::function<bool()> stop_requested = {};
  /// The number of threads that the run may use from now on; it only grows. If empty, it does not change.
  std::function<int()> threads_allowed = {};
  /// Makes the other processes of a group begin the same run, and returns the group (`follow`). Empty: one
  /// process.
  std::function<Ranks*(const ProcessGroupRun&)> begin_together = {};
  /// The output folder with the run of [train] start. Empty: the folder in which the run's own folder is.
  std::filesystem::path starts = {};
};

/// Executes the run, or continues it from its newest intact checkpoint, and records the results in its folder. Waits
/// while another process has the run. On SIGINT and SIGTERM, it saves a checkpoint and returns.
///
/// Exit status: 0 finished (also if it was finished before); 1 failed after the first step, or interrupted (the
/// manifest says which); 2 refused before the first step; `untouched`: a file of the run can't be read at the moment,
/// and nothing in its folder was changed. Messages go to standard error.
/// @param threads  for this run, in place of the configuration's; 0: the configuration's
int run_worker(const RunFolder& run, int threads, const WorkerParts& parts);

/// Called by the first process before it begins to train: tells the other processes which run to train.
void announce(Ranks& ranks, const ProcessGroupRun& run);
/// Called by the first process when there are no more runs.
void announce_end(Ranks& ranks);

/// The main loop of each other process: trains what the first process announces, until there are no more runs. It
/// writes no file. Throws heed::Failed or heed::Refused as training does, and if it finds a different run in the
/// folder.
void follow(Ranks& ranks, const WorkerParts& parts);

} // namespace heed
