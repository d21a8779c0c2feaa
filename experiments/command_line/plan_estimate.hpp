// What a plan would take: which of its runs are there already, and the time of the others, from a short measured probe.
#pragma once

#include "experiments/command_line/preparation.hpp"
#include "experiments/launch/executor.hpp"
#include "experiments/runs/run_state.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// A run of the plan, of tuning or a replicate.
struct EstimatedRun {
  const PlannedRun* run = nullptr;
  const Trial* trial = nullptr; ///< of tuning: the point that it tries
  RunState state = RunState::missing;
  Load load;
  double seconds = 0; ///< of training, about, from its arm's by the FLOPs; 0: nothing was measured
};

struct Estimate {
  std::vector<EstimatedRun> runs; ///< those of tuning first
  std::size_t finished = 0;
  double flops = 0;                ///< of the runs that are not finished
  Allocation share;                ///< how they would be run
  double bytes = 0;                ///< of memory, of all that run at a time
  std::vector<double> arm_seconds; ///< of training each arm's first run, about; empty where nothing was measured
  std::optional<double> seconds;   ///< of all that is to do, run so

  std::size_t to_do() const { return runs.size() - finished; }
};

/// @param out            the folder in which runs may be finished already
/// @param jobs, threads  what was asked for; 0: as the machine allows
/// @param probe          whether to measure: a moment of training of each arm, some seconds in all
Estimate estimate(const Preparation& prepared, Tasks& tasks, const std::filesystem::path& out, int jobs, int threads,
                  bool probe);

} // namespace heed
