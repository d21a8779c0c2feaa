// Loads a trained run (configuration, task, checkpoint), for commands that examine its weights.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/training/training.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heed {

struct TrainedRun {
  std::string id;
  Config config;
  std::unique_ptr<Task> task;
  Checkpoint checkpoint; ///< of the newest intact checkpoint, or an average
  std::string kernels;   ///< the instruction set of its training, if supported here

  const Engine& engine() const { return heed::engine(config, kernels); }
};

/// The weights of the run are those of its newest intact checkpoint, or, if `average` is above 1, the average of the
/// newest `average` checkpoints. `damaged` receives a sentence for each damaged checkpoint. Throws heed::Refused if the
/// run has too few checkpoints, or if its data has changed since.
/// @param program  how the user calls Heed, for commands in messages
TrainedRun trained_run(const RunFolder& run, std::int64_t average, std::vector<std::string>& damaged,
                       const std::string& program = "heed");

/// The parts of a trained run: its weights, as `trained_run` takes them; its task; and the instruction set of its
/// training, if supported here. They throw the same errors. `require_data_of_run` checks a task that exists already.
/// @param program  how the user calls Heed, for commands in messages
Checkpoint trained_weights(const RunFolder& run, const Config& config, std::int64_t average,
                           std::vector<std::string>& damaged, const std::string& program = "heed");
std::unique_ptr<Task> task_of_run(const RunFolder& run, const Config& config);
void require_data_of_run(const RunFolder& run, const Config& config, const Task& task);
std::string instruction_set_of_run(const RunFolder& run, const Config& config);

/// Example `number` of the validation split, written as an input: its text, or "row 3" if it is an image. Throws
/// heed::Refused if there is no such example.
/// @param option  the name of the example's number in messages
std::string example_as_input(const Config& config, const Task& task, std::int64_t number, const std::string& option);

/// ", the average of 5 checkpoints"; empty for one.
std::string average_in_words(std::int64_t average);

} // namespace heed
