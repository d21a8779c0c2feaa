// Executes the runs of a sweep: decides which run starts next and how many run at once, and reports events. A Launcher
// starts the worker processes.
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

/// An event of run `run` (an index into the list of runs).
struct RunEvent {
  enum class Kind {
    skipped,   ///< it was finished before; nothing was done
    elsewhere, ///< another process executes it (`reason` names it); it is checked again later
    queued,    ///< it waits in a cluster's queue
    started,
    progress, ///< `progress` is the newest state
    finished,
    failed,      ///< `reason` says why
    interrupted, ///< stopped with a saved checkpoint; if nobody asked for it, `reason` says why
  };
  Kind kind = Kind::started;
  std::size_t run = 0;
  Progress progress;
  std::string reason;
};

struct ExecutionSummary {
  std::size_t skipped = 0, finished = 0, failed = 0;
  std::size_t interrupted = 0; ///< started, then stopped before the end
  std::size_t remaining = 0;   ///< never started, because the executor was stopped
  std::size_t left = 0;        ///< continue without this process (`Launcher::outlives`)
  bool all_done() const { return failed + interrupted + remaining + left == 0; }
};

/// How many runs at once, and how many threads each. Several runs in parallel are faster than one run with many
/// threads.
struct Allocation {
  int jobs = 1;
  int threads = 1; ///< of each run, at least
  /// Shared among the runs that are executed at once, so that some runs have one thread more, and the last runs get the
  /// threads that others leave. 0: each run has `threads`
  int cores = 0;
  int most = 1; ///< threads of a run, if `cores` are shared

  /// The threads of the run that is started next, if the running ones have `used` threads, and `to_start` runs are to
  /// be started at once.
  int threads_of_next(int used, int to_start) const;
};
/// "2 threads", "2 or 3 threads": what the first runs have.
std::string threads_in_words(const Allocation& allocation);

/// @param runs           number of runs to execute
/// @param bytes_per_run  estimated memory of a run
/// @param jobs, threads  the requested values; 0: choose
/// @param useful         threads of a run beyond which it is not faster; 0: any number is useful
Allocation allocate_machine(const Machine& machine, std::size_t runs, double bytes_per_run, int jobs = 0,
                            int threads = 0, int useful = 0);

/// The number of runs that are not finished, including those that other processes execute.
std::size_t unfinished(std::span<const RunFolder> runs);

/// Removes files of a finished run that are needed only during execution: its progress, and an empty log. Ignores files
/// that can't be removed.
void clear_finished(const RunFolder& run);

class Executor {
public:
  /// How many runs at once if `to_do` runs remain; at least one.
  using AllocationFor = std::function<Allocation(std::size_t to_do)>;

  Executor(Launcher& launcher, AllocationFor allocation_for);
  Executor(Launcher& launcher, Allocation share);

  Allocation allocation_for(std::size_t to_do) const;
  void prefer_instruction_set(const std::string& kernels) { launcher_.prefer_instruction_set(kernels); }

  /// Executes the runs in their order. Their folders are prepared (`prepare_run`). Finished runs are skipped;
  /// interrupted or failed runs continue from their checkpoints. A run that fails does not stop the others. If another
  /// process executes a run, the executor waits for it, and continues the run if it is left unfinished.
  /// @param on_event        called from this thread
  /// @param stop_requested  called often; once true, no more runs are started. Running workers save a checkpoint and
  ///          end, or continue if they outlive this process.
  ExecutionSummary execute(std::span<const RunFolder> runs, const std::function<void(const RunEvent&)>& on_event,
                           const std::function<bool()>& stop_requested);

private:
  Launcher& launcher_;
  AllocationFor allocation_for_;
};

} // namespace heed
