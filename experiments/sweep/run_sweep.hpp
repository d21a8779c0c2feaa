// Executes a sweep from its plan to its last run. The caller displays the progress, which it receives through
// SweepEvents.
#pragma once

#include "experiments/launch/executor.hpp"
#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <filesystem>

namespace heed {

/// A sweep whose folders exist, before any of its runs starts.
struct SweepStart {
  const Plan& plan;      ///< with its arms' earlier choices
  std::size_t runs = 0;  ///< number of runs, tuning and replicates together
  std::size_t to_do = 0; ///< runs still to execute; a failed trial counts as done once its arm has chosen
  Allocation share;      ///< of the first runs; meaningless if nothing is to do
};

/// Receives the events of a sweep. All calls come from the thread that called `run_sweep`.
class SweepEvents {
public:
  virtual ~SweepEvents() = default;

  /// Called before any run starts, also if nothing is to do.
  virtual void ready(const SweepStart&) {}
  /// An event of one run. Runs are numbered with the plan's tuning runs first, then its replicates.
  virtual void heard(const RunEvent&) {}
  /// Called when all arms of a tuned sweep have chosen.
  virtual void tuned(const Plan&) {}
  /// Polled while runs are executed or waited for, until it returns true. Then the running jobs save a checkpoint and
  /// stop.
  virtual bool stop_requested() { return false; }
};

struct SweepResult {
  Plan plan;                       ///< with its arms' choices
  std::filesystem::path folder;    ///< the sweep's folder
  std::size_t runs = 0, to_do = 0; ///< as in SweepStart, at the end
  ExecutionSummary executed;       ///< a trial that failed twice is discarded, and not counted as failed
  bool stopped() const { return executed.interrupted + executed.remaining + executed.left > 0; }
};

/// Freezes the plan in the output folder and executes the missing runs: in a tuned sweep first the trials, with one
/// retry of those that fail, then each arm's choice; then the replicates. If other processes execute the same sweep,
/// they share the work. The arms must have been checked before (`prepare`).
/// @param kernels  the instruction set for all of its runs, if its plan has none yet (`freeze`)
/// Throws heed::Refused if the folders cannot be created, and heed::Failed for an arm with no usable trial.
SweepResult run_sweep(const Plan& plan, const std::filesystem::path& out, Executor& executor, SweepEvents& events,
                      const std::string& kernels = {});

} // namespace heed
