// The functions of one precision, as a table.
#include "autograd/error.hpp"
#include "experiments/training/engine_table.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/trainer.hpp"

#include <thread>

namespace heed::HEED_REAL {

namespace {

Metrics evaluate(const Config& config, const Task& task, const Checkpoint& checkpoint, Split split) {
  RunModel run(config, task);
  load_parameters(run.parameters, checkpoint);
  Workers workers(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  Metrics m;
  if (auto step = checkpoint.metadata.find("step"); step != checkpoint.metadata.end()) m.step = std::stoll(step->second);
  m.values = evaluate_split(config, task, run, split, 0, workers);
  return m;
}

} // namespace

const Engine& engine_table() {
  static const Engine table{
      .check =
          [](const Config& config, const Task& task) {
            RunModel run(config, task);
            make_optimizer(config, 0);
          },
      .cost = cost,
      .train = train,
      .evaluate = evaluate,
      .generate = generate};
  return table;
}

} // namespace heed::HEED_REAL
