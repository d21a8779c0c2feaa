// Launches runs in this process, together with the other processes that mpirun started (a process group).
#pragma once

#include "experiments/launch/launcher.hpp"
#include "experiments/runs/worker.hpp"

#include <atomic>
#include <thread>

namespace heed {

/// Executes one run at a time, in a separate thread, with the group's other processes (`follow`).
class ProcessGroupLauncher : public Launcher {
public:
  /// @param parts  as for a single process; the launcher itself sets `log` and `stop_requested`
  ProcessGroupLauncher(Ranks& ranks, WorkerParts parts);
  ~ProcessGroupLauncher() override;

  std::size_t start(const RunFolder& run, int threads) override;
  std::vector<WorkerEnd> ended() override;
  void stop(std::size_t) override { stop_ = true; }

  int processes() const; ///< in the process group
  /// Whether a run failed after the process group had begun it. Other processes may then wait forever.
  bool broken() const { return broken_; }

private:
  void work(const RunFolder& run, int threads);

  Ranks& ranks_;
  WorkerParts parts_;
  std::thread thread_;
  std::atomic<bool> stop_ = false, done_ = false;
  bool together_ = false, broken_ = false;
  std::size_t started_ = 0;
  WorkerEnd end_;
};

} // namespace heed
