// Estimates the cost of a plan: which runs have finished, how long the others take, from a short measured probe, and
// which time and memory to request from a Slurm queue.
#pragma once

#include "experiments/launch/executor.hpp"
#include "experiments/launch/slurm_launcher.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/sweep/preparation.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heed {

/// A run of the plan: a tuning run or a replicate.
struct EstimatedRun {
  const PlannedRun* run = nullptr;
  const Trial* trial = nullptr; ///< tuning runs: the trial
  RunState state = RunState::missing;
  Load load;
  double seconds = 0; ///< estimated training time, from its arm's time, scaled by FLOPs; 0: not measured
};

struct Estimate {
  std::vector<EstimatedRun> runs; ///< tuning runs first
  std::size_t finished = 0;
  double flops = 0;                ///< of the unfinished runs
  Allocation share;                ///< how they would be executed
  double bytes = 0;                ///< memory of all simultaneous runs
  std::vector<double> arm_seconds; ///< estimated training time of each arm's first run; empty if not measured
  std::optional<double> seconds;   ///< estimated time of all unfinished runs

  std::size_t to_do() const { return runs.size() - finished; }
};

/// @param out            the folder that may contain finished runs
/// @param jobs, threads  the requested numbers; 0: chosen for this machine
/// @param probe          whether to measure: trains each arm for a moment, a few seconds in total
Estimate estimate(const Preparation& prepared, Tasks& tasks, const std::filesystem::path& out, int jobs, int threads,
                  bool probe);

/// The needs of runs, measured by a short training of each arm on the first request.
class RunNeeds {
public:
  RunNeeds(const Preparation& prepared, Tasks& tasks, std::filesystem::path out, int threads)
      : prepared_(prepared), tasks_(tasks), out_(std::move(out)), threads_(threads) {}

  RunNeed of(const RunFolder& run);

private:
  void measure();

  const Preparation& prepared_;
  Tasks& tasks_;
  std::filesystem::path out_;
  int threads_;
  bool measured_ = false;
  std::map<std::string, double> seconds_;
  double longest_ = 0, bytes_ = 0;
};

} // namespace heed
