#include "autograd/error.hpp"
#include "autograd/operation_count.hpp"
#include "autograd/pages.hpp"
#include "experiments/config/config.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/introspection.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/step.hpp"
#include "experiments/training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <new>
#include <string>
#include <vector>

namespace heed::HEED_REAL {

namespace {

// Has attention make its weights and scores, as a look at them does.
struct Onlooker : Observer {
  explicit Onlooker(const Looks& looks) : looks(looks) {}
  bool wants_weights() const override { return looks.attention; }
  bool wants_scores() const override { return looks.scores; }
  Looks looks;
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

// Of what an optimiser keeps for each number that it trains, without memory for the model's.
double optimizer_share(const Config& config) {
  constexpr std::int64_t side = 64;
  Parameters matrix;
  matrix.add("weight", {side, side}, Init::constant(0), WeightDecay::yes);
  return optimizer_numbers(config, matrix) / (side * side);
}

// One row more or less of a step, in bytes on its tape.
struct StepBytes {
  double one_row = 0, each_further = 0;
  double of(std::int64_t rows) const { return one_row + each_further * static_cast<double>(rows - 1); }
};

// What a run takes of memory before it is tried: the parameters by their shapes.
class Size {
public:
  Size(const Config& config, const RunModel& run, std::int64_t shards)
      : config_(config), run_(run), shards_(shards), memory_(memory_there_is()) {}

  // Without end where the system does not tell.
  double memory() const { return memory_ > 0 ? memory_ : std::numeric_limits<double>::infinity(); }

  // Their values, the gradients of each shard, and a checkpoint, which is first put together and then turned into the
  // bytes of a file. What the optimiser keeps comes to it: `kept` numbers with the values.
  double parameters(double kept) const {
    return sizeof(Real) * (kept + extent() * static_cast<double>(shards_) + 2 * kept);
  }
  double extent() const { return static_cast<double>(run_.parameters.extent()); }

  // Whether a step of so many rows could be more than fits, so that it is worth while to try one row first.
  bool is_large(std::int64_t rows) const {
    constexpr double arrays = 16; // that a block keeps of each token, about: sublayers' inputs, products, a wide layer
    const double tokens = static_cast<double>(rows) * static_cast<double>(run_.shape.length + run_.shape.output_length);
    return arrays * sizeof(Real) * tokens * static_cast<double>(config_.model.width * config_.model.layers) >
           memory() / 16;
  }

  // @param kept  numbers: the values, and what the optimiser keeps
  void check_parameters(double kept) const {
    if (const double bytes = parameters(kept); bytes > memory()) refuse(bytes, {}, 0);
  }
  // @param rows  of a shard's step
  void check_step(double shared, const StepBytes& step, std::int64_t rows) const {
    if (shared + step.of(rows) > memory()) refuse(shared, step, rows);
  }
  [[noreturn]] void refuse_row() const {
    throw Refused(
        fmt::format("[model] a step of a single row takes more than the {} of memory that there are; make the "
                    "rows shorter, or model.width ({}) or model.layers ({}) smaller",
                    in_words(memory_), config_.model.width, config_.model.layers));
  }

private:
  static double memory_there_is() {
    static const double bytes = usable_memory(); // once: a sweep asks for each of its arms
    return bytes;
  }
  static std::string in_words(double bytes) {
    return bytes < 1e9 ? fmt::format("{:.0f} MB", bytes / 1e6) : fmt::format("{:.1f} GB", bytes / 1e9);
  }

  [[noreturn]] void refuse(double shared, const StepBytes& step, std::int64_t rows) const {
    std::string text = fmt::format("[model] a run needs {} of memory at least, and there are {}: {} for {} parameters "
                                   "(values, gradients of {} shard{}, the optimiser, a checkpoint)",
                                   in_words(shared + (rows > 0 ? step.of(rows) : 0)), in_words(memory_),
                                   in_words(shared), run_.parameters.count(), shards_, shards_ == 1 ? "" : "s");
    if (rows > 0) text += fmt::format(", {} for a shard's step of {} rows", in_words(step.of(rows)), rows);
    const double left = memory_ - shared;
    if (rows > 0 && left > step.one_row) {
      const auto fit = 1 + static_cast<std::int64_t>((left - step.one_row) / std::max(step.each_further, 1.0));
      text += config_.train.batch_tokens > 0
                  ? fmt::format("; lower train.batch_tokens ({}), or raise train.shards", config_.train.batch_tokens)
              : config_.train.full_batch
                  ? "; train.full_batch = false and a train.batch would do, or more shards (train.shards)"
                  : fmt::format("; train.batch = {} would fit, or more shards (train.shards)", fit * shards_);
    } else {
      // Parameters grow with the square of the width, for the most part.
      const double width = static_cast<double>(config_.model.width) * std::sqrt(memory_ / (1.5 * shared));
      const std::int64_t heads = config_.model.heads;
      text += fmt::format("; model.width = {} would fit, about",
                          std::max(heads, static_cast<std::int64_t>(width) / heads * heads));
    }
    throw Refused(text);
  }

  const Config& config_;
  const RunModel& run_;
  std::int64_t shards_;
  double memory_;
};

// A step of so many rows, forward and backward, on the tape.
void step_on(Tape& tape, const Config& config, const Task& task, RunModel& run, std::vector<Real>& gradients,
             std::int64_t step, std::int64_t rows, Batch& batch) {
  fill_training_batch(config, task, run, step, 0, rows, batch);
  tape.rewind();
  Pass pass(tape, run.parameters, gradients.data(), {.training = true, .seed = 0, .step = 0, .first_row = 0});
  tape.backward(cross_entropy(run.model->logits(pass, batch), batch.targets.data()));
}

StepBytes bytes_of_rows(const Config& config, const Task& task, RunModel& run, std::vector<Real>& gradients) {
  double bytes[2] = {};
  for (const std::int64_t rows : {1, 2}) {
    Tape tape;
    Batch batch;
    step_on(tape, config, task, run, gradients, 0, rows, batch);
    bytes[rows - 1] = static_cast<double>(tape.peak());
  }
  return {bytes[0], std::max(0.0, bytes[1] - bytes[0])};
}

// A worker with its libraries, before there is a model.
constexpr double process_bytes = 14'400'000;

Cost measured_cost(const Config& config, const Task& task, RunModel& run, std::int64_t shards, const Size& size) {
  run.parameters.initialise(static_cast<std::uint64_t>(config.general.seed));
  Cost c;
  c.parameters = run.parameters.count();
  const double shared = size.parameters(size.extent() + optimizer_numbers(config, run.parameters));

  // One shard, forward and backward.
  const bool by_tokens = config.train.batch_tokens > 0;
  std::vector<Real> gradients(static_cast<std::size_t>(run.parameters.extent()));
  Tape tape;
  Batch batch;
  // Steps of unlike rows differ: some of them, then, and their mean.
  const int steps = by_tokens ? 4 : 1;
  for (int step = 0; step < steps; ++step) {
    const std::int64_t step_rows = training_rows(config, task, run, step);
    const std::int64_t rows = (step_rows + shards - 1) / shards;
    if (step == 0 && rows > 2 && size.is_large(rows))
      size.check_step(shared, bytes_of_rows(config, task, run, gradients), rows);
    const double before = counted_operations();
    step_on(tape, config, task, run, gradients, step, rows, batch);
    c.flops_per_step += (counted_operations() - before) * static_cast<double>(step_rows) / static_cast<double>(rows);
  }
  c.flops_per_step /= steps;

  // Evaluation uses the same tapes.
  const EvaluationPieces pieces{task.evaluation_rows(run.form, Split::validation)};
  if (pieces.count() > 0) {
    fill_evaluation_batch(task, run, Split::validation, 0, std::min(pieces.size(0), pieces.rows_at_once(run.shape)),
                          batch);
    tape.rewind();
    tape.record(false);
    Pass pass(tape, run.parameters, nullptr, {});
    run.model->logits(pass, batch);
  }
  // Of rows of other lengths, the longest take the most.
  if (!run.at_lengths.empty()) {
    const RunModel::AtLength& at = run.at_lengths.back();
    const auto longer = EvaluationPieces::of_length(run, at.shape,
                                                    at.task->evaluation_rows(run.form, Split::validation));
    fill_evaluation_batch(at, run, Split::validation, 0, std::min(longer.size(0), longer.rows_at_once(at.shape)),
                          batch);
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
    Onlooker onlooker(looks_of(config.train));
    Pass pass(tape, run.parameters, nullptr, {.observer = &onlooker});
    run.model->logits(pass, batch);
  }
  c.shared_bytes = process_bytes + shared;
  c.thread_bytes = static_cast<double>(tape.peak());
  c.shards = shards;
  return c;
}

} // namespace

Cost cost(const Config& config, const Task& task) {
  RunModel run(config, task);
  const std::int64_t shards = shards_of_step(config.train);
  const Size size(config, run, shards);
  size.check_parameters(size.extent() * (1 + optimizer_share(config)));
  const PageLimit limit(size.memory());
  try {
    return measured_cost(config, task, run, shards, size);
  } catch (const std::bad_alloc&) {
    size.refuse_row();
  }
}

} // namespace heed::HEED_REAL
