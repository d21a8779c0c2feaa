// A sweep from its plan to its last run. What it shows of that, to whom and where, is its caller's business.
#pragma once

#include "experiments/launch/executor.hpp"
#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <filesystem>

namespace heed {

/// A sweep whose folders are made and none of whose runs has begun.
struct SweepStart {
  const Plan& plan;      ///< with what its arms have chosen before
  std::size_t runs = 0;  ///< of tuning and replicates together
  std::size_t to_do = 0; ///< of these; a trial that failed is done once its arm has chosen
  Allocation share;      ///< of the first runs; where there is nothing to do, of no meaning
};

/// Who hears of a sweep. All calls come from the thread of `run_sweep`.
class SweepEvents {
public:
  virtual ~SweepEvents() = default;

  /// Before anything runs, and also where nothing is to do.
  virtual void ready(const SweepStart&) {}
  /// Of one run. Its number counts the plan's runs of tuning first, then its replicates.
  virtual void heard(const RunEvent&) {}
  /// All arms of a tuned sweep have chosen.
  virtual void tuned(const Plan&) {}
  /// Asked often while anything runs or is waited for, until it says yes: what runs then keeps a checkpoint and ends.
  virtual bool stop_requested() { return false; }
};

struct SweepResult {
  Plan plan;                       ///< with what its arms have chosen
  std::filesystem::path folder;    ///< the plan's
  std::size_t runs = 0, to_do = 0; ///< as in SweepStart, now
  ExecutionSummary executed;       ///< failed: a trial that failed again, and is out, is none
  bool stopped() const { return executed.interrupted + executed.remaining + executed.left > 0; }
};

/// Freezes the plan in the output folder, and executes what is missing: of a tuned sweep the trials, those that fail
/// once more, then each arm's choice; then the replicates. Where others run the same sweep, they share the work. The
/// arms are to be checked before (`prepare`).
/// @param kernels  that all of its runs are to be computed with, if its plan has none yet (`freeze`)
/// Throws heed::Refused where the folders can't be made, heed::Failed for an arm none of whose trials can be chosen.
SweepResult run_sweep(const Plan& plan, const std::filesystem::path& out, Executor& executor, SweepEvents& events,
                      const std::string& kernels = {});

} // namespace heed
