#include "python/bindings/open_run.hpp"

#include "autograd/error.hpp"
#include "experiments/runs/checkpoints.hpp"
#include "experiments/system/working_folder.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace heed::python {

OpenRun::OpenRun(RunFolder folder)
    : folder_(std::move(folder)), working_folder_(WorkingFolder::now()), config_(read_config(folder_)) {}

RunWeights OpenRun::weights(std::int64_t average) {
  const auto read = [&] {
    RunWeights out;
    out.average = average;
    auto checkpoint = std::make_shared<Checkpoint>(trained_weights(folder_, config_, average, out.damaged));
    out.step = step_of(*checkpoint).value.value_or(0);
    out.checkpoint = std::move(checkpoint);
    return out;
  };
  if (average > 1) return read();
  const auto weights = weights_.lock(); // one thread at a time reads
  if (!*weights) *weights = read();
  return **weights;
}

RunWeights OpenRun::weights_at(std::int64_t step) const {
  auto checkpoint = read_checkpoint(folder_, step, CheckpointPart::weights);
  require_readable(checkpoint);
  if (checkpoint) return {std::make_shared<Checkpoint>(std::move(*checkpoint)), step, 1, {}};
  std::vector<std::int64_t> steps = checkpoint_steps(folder_);
  if (!checkpoint.is_missing()) throw Refused(checkpoint.error);
  std::reverse(steps.begin(), steps.end());
  throw Refused(fmt::format("run {} has no checkpoint of step {}; it has {}", folder_.id(), step,
                            steps.empty() ? "none" : fmt::format("those of {}", fmt::join(steps, ", "))));
}

const Task& OpenRun::task() {
  const auto task = task_.lock(); // one thread at a time makes it
  const WorkingFolder scope(working_folder_);
  if (!*task) *task = task_of_run(folder_, config_);
  return **task;
}

const Engine& OpenRun::engine(const Config& config) {
  return heed::engine(config, instruction_set_of_run(folder_, config));
}

} // namespace heed::python
