// Which of a sweep's runs runs next. An executor is handed folders and tells of what happens; where they run is its
// launcher's business.
#pragma once

#include "experiments/launch/launcher.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/system/machine.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace heed {

/// Something happened to run `run` (an index into what was handed over).
struct RunEvent {
  enum class Kind {
    skipped,   ///< finished before; nothing was done
    elsewhere, ///< another process runs it; it is looked at again later
    queued,    ///< it waits for its turn in a cluster's queue
    started,
    progress, ///< `progress` holds the newest
    finished,
    failed,      ///< `reason` says why
    interrupted, ///< stopped with a checkpoint kept; `reason` says why where nobody asked for it
  };
  Kind kind = Kind::started;
  std::size_t run = 0;
  Progress progress;
  std::string reason;
};

struct ExecutionSummary {
  std::size_t skipped = 0, finished = 0, failed = 0;
  std::size_t interrupted = 0; ///< of those that were started
  std::size_t remaining = 0;   ///< never started, since it was stopped
  std::size_t left = 0;        ///< go on without this process (`Launcher::outlives`)
  bool all_done() const { return failed + interrupted + remaining + left == 0; }
};

/// How many runs at once, and how many threads each has: runs side by side beat one run with many threads.
struct Allocation {
  int jobs = 1, threads = 1;
};
/// @param runs           how many there are to do
/// @param bytes_per_run  of memory, about
/// @param jobs, threads  what was asked for; 0: find out
Allocation allocate_machine(const Machine& machine, std::size_t runs, double bytes_per_run, int jobs = 0,
                            int threads = 0);

/// How many of the runs are not finished, whoever has them.
std::size_t unfinished(std::span<const RunFolder> runs);

/// Removes what a finished run's folder holds for the time that the run goes on: its progress, and a log without a word.
/// What can't be removed stays.
void clear_finished(const RunFolder& run);

class Executor {
public:
  /// How many at once where so many runs are to do, one at least.
  using AllocationFor = std::function<Allocation(std::size_t to_do)>;

  Executor(Launcher& launcher, AllocationFor allocation_for);
  Executor(Launcher& launcher, Allocation share);

  Allocation allocation_for(std::size_t to_do) const;
  void prefer_kernels(const std::string& kernels) { launcher_.prefer_kernels(kernels); }

  /// Executes the runs, whose folders are prepared (`prepare_run`), in their order; those that are finished are
  /// skipped, those that were interrupted or failed go on from their checkpoints. One that fails stops no other. What
  /// another process runs is waited for, and gone on with where that one leaves it unfinished.
  /// @param on_event        called from this thread
  /// @param stop_requested  asked often; once true, running ones keep a checkpoint and end, or are left where they
  ///                        outlive this process; no more are started
  ExecutionSummary execute(std::span<const RunFolder> runs, const std::function<void(const RunEvent&)>& on_event,
                           const std::function<bool()>& stop_requested);

private:
  Launcher& launcher_;
  AllocationFor allocation_for_;
};

} // namespace heed
