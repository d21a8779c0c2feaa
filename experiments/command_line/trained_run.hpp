// A run that has been trained, for the commands that look at what it learned.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <memory>
#include <string>

namespace heed {

struct TrainedRun {
  std::string id;
  Config config;
  std::unique_ptr<Task> task;
  Checkpoint checkpoint;               ///< the newest that is whole; damaged ones are named on the console
};

/// RUN is a path or a unique beginning of an ID within `out`. Throws heed::Refused where there is no such run, no
/// checkpoint of it, or where its data has changed since.
TrainedRun trained_run(const std::string& out, const std::string& run, Console& console);

} // namespace heed
