// One run in this process, from its folder's config.toml to its end.
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

/// A run as a team of processes is about to train it, from the checkpoint of `step`; -1: from the start.
struct TeamRun {
  RunFolder run;
  int threads = 0; ///< of each process
  std::int64_t step = -1;
  std::string kernels = {};
};

/// run_worker's exit status where something can't be read that may be read another time.
inline constexpr int untouched = 3;

/// What a worker works with. The program passes `heed::engine` and `heed::make_task`; tests pass their own.
struct WorkerParts {
  std::function<const Engine&(const Config&, const std::string& kernels)> engine;
  std::function<std::unique_ptr<Task>(const Config&)> make_task;
  Build build;
  std::string kernels = {}; ///< that the run's sweep has; a configuration that names its own has those
  /// Told why the run failed, beside the manifest and standard error, which a full disk may not take.
  std::function<void(std::string_view)> tell = [](std::string_view) {};
  std::FILE* log = stderr; ///< where messages go
  /// Whether to keep a checkpoint and return; none: when SIGINT or SIGTERM says so.
  std::function<bool()> stop_requested = {};
  /// Has the other processes of a team begin the same run, and returns the team (runs/follower.hpp); none: it is alone.
  std::function<Ranks*(const TeamRun&)> begin_together = {};
};

/// Executes the run, or continues it after its newest whole checkpoint, and records what happens in its folder. Waits
/// while another process has the run. SIGINT and SIGTERM make it keep a checkpoint and return.
///
/// Exit status: 0 finished (also if it was before); 1 failed after the first step, or interrupted (the manifest says
/// which); 2 refused before the first step; `untouched`: a file of the run can't be read now, so that nothing in its
/// folder was changed. Messages go to standard error.
/// @param threads  for this run, in place of the configuration's; 0: the configuration's
int run_worker(const RunFolder& run, int threads, const WorkerParts& parts);

} // namespace heed
