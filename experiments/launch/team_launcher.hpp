// Runs in this process, by the team of processes that mpirun started.
#pragma once

#include "experiments/launch/launcher.hpp"
#include "experiments/runs/worker.hpp"

#include <atomic>
#include <thread>

namespace heed {

/// One run at a time, in a thread of its own, with the other processes of the team, which follow (runs/follower.hpp).
class TeamLauncher : public Launcher {
public:
  /// @param parts  as for a process alone; where messages go, and when to stop, is the launcher's
  TeamLauncher(Ranks& ranks, WorkerParts parts);
  ~TeamLauncher() override;

  std::size_t start(const RunFolder& run, int threads) override;
  std::vector<WorkerEnd> ended() override;
  void stop(std::size_t) override { stop_ = true; }

  int processes() const; ///< of the team
  /// Whether a run failed after the team had begun it: others may still wait for what never comes.
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
