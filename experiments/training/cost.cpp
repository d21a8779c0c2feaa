#include "autograd/operation_count.hpp"
#include "autograd/pages.hpp"
#include "experiments/config/config.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/introspection.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/step.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <chrono>

namespace heed::HEED_REAL {

namespace {

// Has attention make its weights, as a look at them does.
struct Onlooker : Observer {
  bool wants_weights() const override { return true; }
};

// What an optimiser keeps, each array on a 64-byte boundary, as parameters are.
double optimizer_numbers(const Config& config, const Parameters& parameters) {
  constexpr std::size_t boundary = 64 / sizeof(Real);
  std::size_t numbers = 0;
  const auto optimizer = make_optimizer(config, parameters);
  for (const Optimizer::StateArray& array : optimizer->state(parameters))
    numbers += (array.numbers.size() + boundary - 1) / boundary * boundary;
  return static_cast<double>(numbers);
}

} // namespace

Cost cost(const Config& config, const Task& task) {
  using Clock = std::chrono::steady_clock;
  static const std::int64_t process = std::max<std::int64_t>(resident_bytes(), 16'000'000); // with its libraries
  RunModel run(config, task);
  run.parameters.initialise(static_cast<std::uint64_t>(config.general.seed));
  Cost c;
  c.parameters = run.parameters.count();

  // One shard, forward and backward, twice: the first fills the arena and the caches.
  const bool by_tokens = config.train.batch_tokens > 0;
  const std::int64_t shards = by_tokens ? config.train.shards : std::min(config.train.shards, config.train.batch);
  std::vector<Real> gradients(static_cast<std::size_t>(run.parameters.extent()));
  Tape tape;
  Batch batch;
  // Steps of unlike rows differ: some of them, then, and their mean.
  const int measured = by_tokens ? 4 : 1;
  double seconds = 0, operations = 0; // of all shards
  for (int i = 0; i <= measured; ++i) {
    const std::int64_t step = std::max(0, i - 1), step_rows = training_rows(config, task, run, step);
    const std::int64_t rows = (step_rows + shards - 1) / shards;
    const double share = static_cast<double>(step_rows) / static_cast<double>(rows) / measured;
    const auto begin = Clock::now();
    const double before = counted_operations();
    fill_training_batch(config, task, run, step, 0, rows, batch);
    tape.rewind();
    Pass pass(tape, run.parameters, gradients.data(), {.training = true, .seed = 0, .step = 0, .first_row = 0});
    tape.backward(cross_entropy(run.model->logits(pass, batch), batch.targets.data()));
    if (i == 0) continue;
    operations += (counted_operations() - before) * share;
    seconds += std::chrono::duration<double>(Clock::now() - begin).count() * share;
  }
  const auto parts = static_cast<double>(shards);
  c.flops_per_step = operations;
  c.seconds_per_step = seconds;
  // Evaluation uses the same tapes.
  const EvaluationPieces pieces{task.evaluation_rows(run.form, Split::validation)};
  if (pieces.count() > 0) {
    fill_evaluation_batch(task, run, Split::validation, 0, pieces.size(0), batch);
    tape.rewind();
    tape.record(false);
    Pass pass(tape, run.parameters, nullptr, {});
    run.model->logits(pass, batch);
  }
  // A look at attention has a row's weights whole, which otherwise only ever stream.
  if (looks_of(config.train).attention && pieces.count() > 0) {
    fill_evaluation_batch(task, run, Split::validation, 0, 1, batch);
    tape.rewind();
    tape.record(false);
    Onlooker onlooker;
    Pass pass(tape, run.parameters, nullptr, {.observer = &onlooker});
    run.model->logits(pass, batch);
  }
  const auto extent = static_cast<double>(run.parameters.extent());
  const double kept = extent + optimizer_numbers(config, run.parameters);
  // A checkpoint is first put together in memory, and then turned into the bytes of a file.
  c.shared_bytes = static_cast<double>(process) + sizeof(Real) * (kept + extent * parts + 2 * kept);
  c.thread_bytes = static_cast<double>(tape.peak());
  c.shards = shards;
  return c;
}

} // namespace heed::HEED_REAL
