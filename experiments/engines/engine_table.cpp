// Defines the engine table of one precision.
#include "autograd/error.hpp"
#include "autograd/products.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/operators/operator_table.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/training/attending.hpp"
#include "experiments/training/decoded_metrics.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/introspection.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/trainer.hpp"

namespace heed::HEED_REAL {

namespace {

MetricsRecord evaluate(const Config& config, const Task& task, const Checkpoint& checkpoint, Split split) {
  RunModel run(config, task);
  load_parameters(run.parameters, checkpoint);
  ThreadPool workers(usable_cores());
  MetricsRecord m;
  m.step = step_of(checkpoint).value.value_or(0);
  m.values = evaluate_split(config, task, run, split, 0, workers);
  for (auto& estimate : loss_estimate(config, task, run, split, m.step, workers))
    m.values.push_back(std::move(estimate));
  return m;
}

std::vector<ExampleScore> scores_of_examples(const Config& config, const Task& task, const Checkpoint& checkpoint) {
  RunModel run(config, task);
  load_parameters(run.parameters, checkpoint);
  ThreadPool workers(usable_cores());
  return example_scores(task, run, Split::validation, config.train.evaluate_batches * config.train.batch, workers);
}

void outputs(const Config& config, const Task& task, const Checkpoint& checkpoint, Split split,
             const std::function<void(const ExampleOutput&)>& use) {
  RunModel run(config, task);
  load_parameters(run.parameters, checkpoint);
  ThreadPool workers(usable_cores());
  example_outputs(config, task, run, split, workers, use);
}

Inspection inspect(const Config& config, const Task& task, const Checkpoint* checkpoint, Split split,
                   std::int64_t sequences) {
  RunModel run(config, task);
  if (checkpoint) load_parameters(run.parameters, *checkpoint);
  else run.parameters.initialise(config.init_seed());
  ThreadPool workers(usable_cores());
  Inspection found = inspect_model(config, task, run, split, sequences, all_parts, workers);
  if (checkpoint) found.step = step_of(*checkpoint).value.value_or(0);
  return found;
}

std::vector<AttentionExample> attend(const Config& config, const Task& task, const Checkpoint& checkpoint,
                                     const std::vector<AttentionRequest>& requests) {
  RunModel run(config, task);
  load_parameters(run.parameters, checkpoint);
  std::vector<AttentionExample> examples;
  for (const AttentionRequest& request : requests) {
    examples.push_back(attend(task, run, request));
    examples.back().step = step_of(checkpoint).value.value_or(0);
  }
  return examples;
}

std::vector<ParameterShape> parameters(const Config& config, const Task& task) {
  const RunModel run(config, task);
  std::vector<ParameterShape> out;
  for (const Parameters::Entry& e : run.parameters.entries())
    out.push_back({e.name, {e.shape.extent.begin(), e.shape.extent.begin() + e.shape.rank}});
  return out;
}

} // namespace

const Engine& engine_table() {
  static const Engine table{.check =
                                [](const Config& config, const Task& task) {
                                  RunModel run(config, task);
                                  make_optimizer(config, Parameters{}); // checks the options
                                  check_inspection(config, task, run);
                                },
                            .cost = cost,
                            .parameters = parameters,
                            .train = train,
                            .evaluate = evaluate,
                            .example_scores = scores_of_examples,
                            .outputs = outputs,
                            .inspect = inspect,
                            .inspected = inspected_names,
                            .attend = attend,
                            .generate = generate,
                            .attention_cost = attention_cost,
                            .added_scores = added_scores,
                            .queries_without_keys = queries_without_keys,
                            .attention_operator = make_attention_operator,
                            .recurrence = {recurrence_forward, recurrence_backward},
                            .products = product_description};
  return table;
}

} // namespace heed::HEED_REAL
