// A run that has been trained, for the commands that look at what it learned.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/config/config.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <memory>
#include <string>
#include <vector>

namespace heed {

struct TrainedRun {
  std::string id;
  Config config;
  std::unique_ptr<Task> task;
  Checkpoint checkpoint; ///< the weights of the newest that is whole, or an average; damaged ones are named on the
                         ///< console
  std::string kernels;   ///< those that it was trained with, where they are here

  const Engine& engine() const { return heed::engine(config, kernels); }
};

/// RUN is a path or a unique beginning of an ID within `out`. With `average` above 1, the checkpoint is the average of
/// the newest so many. Throws heed::Refused where there is no such run, not as many checkpoints of it, or where its
/// data has changed since.
TrainedRun trained_run(const std::string& out, const std::string& run, std::int64_t average, Console& console);

/// The same of a run's folder; `damaged` gets a sentence for each checkpoint that is not whole.
TrainedRun trained_run(const RunFolder& run, std::int64_t average, std::vector<std::string>& damaged);

/// ", the average of 5 checkpoints", or nothing for one.
std::string average_in_words(std::int64_t average);

} // namespace heed
