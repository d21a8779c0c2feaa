#include "experiments/training/trainer.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/training/evaluation.hpp"
#include "experiments/training/introspection.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/process_group.hpp"
#include "experiments/training/step.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace heed::HEED_REAL {

namespace {

double machine_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int thread_count(const TrainOptions& options) {
  return options.threads > 0 ? static_cast<int>(options.threads) : std::min(usable_cores(), most_useful_threads);
}

void require_work_for(const Ranks& ranks, const TrainOptions& options) {
  const std::int64_t shards = shards_of_step(options);
  if (ranks.count() <= shards) return;
  throw Refused(
      fmt::format("there are {} processes, but a step's batch is cut into {} shards: {} would have nothing to do. "
                  "Start {} at most, or raise train.shards, which makes another run (another ID)",
                  ranks.count(), shards, ranks.count() - shards, std::bit_floor(static_cast<std::uint64_t>(shards))));
}

// Reports a step whose loss was finite but whose update made the model unusable.
[[noreturn]] void fail_spoiled(std::int64_t step, const std::string& what) {
  throw Failed(fmt::format("step {}: the update spoiled the model: {}. Try a lower train.learning_rate, train.clip = "
                           "1.0, or more train.warmup",
                           step, what));
}

// A checkpoint from which no run can continue must not replace a good one.
void require_finite(const Parameters& parameters, std::int64_t step) {
  for (const auto& e : parameters.entries()) {
    const Real* p = parameters.values() + e.offset;
    if (!std::all_of(p, p + e.shape.size(), [](Real x) { return std::isfinite(x); }))
      fail_spoiled(step, fmt::format("parameter {} is not finite", e.name));
  }
}

void require_finite(const std::vector<std::pair<std::string, double>>& values, std::int64_t step) {
  for (const auto& [name, value] : values) {
    if (std::isfinite(value)) continue;
    if (step > 0) fail_spoiled(step, fmt::format("{} is not finite ({})", name, value));
    throw Failed(fmt::format("the untrained model's output is not finite: {} is {}. A formula may give no finite "
                             "number (attention.score_mod), or the initial weights are too large ([init], "
                             "model.init_std)",
                             name, std::isnan(value) ? "not a number" : "infinite"));
  }
}

// The values in a checkpoint's metadata.
struct Place {
  std::int64_t step = 0, tokens = 0;
  double seconds = 0;
  std::optional<double> step_seconds = 0; // none: continues a checkpoint without this value
};

Checkpoint make_checkpoint(const Config& config, const RunModel& run, Optimizer& optimizer, const Place& place) {
  Checkpoint c;
  c.metadata = {{"format", "pt"}, // readers of the format expect this value for tensors in PyTorch's layout
                {"step", fmt::format("{}", place.step)},
                {"tokens", fmt::format("{}", place.tokens)},
                {"seconds", fmt::format("{}", place.seconds)},
                {"numerics", numerics_of(flatten(config))}};
  if (place.step_seconds) c.metadata["step_seconds"] = fmt::format("{}", *place.step_seconds);
  for (const auto& e : run.parameters.entries())
    c.tensors.push_back(stored(e.name, e.shape, run.parameters.values() + e.offset));
  store_state(optimizer, run.parameters, c);
  return c;
}

Place restore(RunModel& run, Optimizer& optimizer, const Checkpoint& c) {
  load_parameters(run.parameters, c);
  load_state(optimizer, run.parameters, c);
  try {
    const auto steps = c.metadata.find("step_seconds");
    return {std::stoll(c.metadata.at("step")), std::stoll(c.metadata.at("tokens")), std::stod(c.metadata.at("seconds")),
            steps == c.metadata.end() ? std::nullopt : std::optional(std::stod(steps->second))};
  } catch (const std::exception&) {
    throw Failed("[checkpoint] it does not say which step it is of");
  }
}

// Replaces initial values by the weights of [train] start.
void take_start(const Config& config, RunModel& run, const TrainingHooks& hooks) {
  if (config.train.start.empty()) return;
  if (!hooks.start)
    throw Failed(fmt::format("[train] start = \"{}\": the weights of this run are not given to the training",
                             config.train.start));
  load_some_parameters(run.parameters, hooks.start());
}

// The inspection metrics of a step; with the step's own gradient if there is one.
std::vector<std::pair<std::string, double>> look_inside(const Config& config, const Task& task, RunModel& run,
                                                        ThreadPool& workers,
                                                        std::span<const std::unique_ptr<Tape>> tapes,
                                                        const Real* gradient) {
  InspectionParts looks = inspected_parts(config.train);
  const bool gradients = looks.gradients;
  if (gradient) looks.gradients = false;
  Inspection inspection = inspect_model(config, task, run, Split::validation,
                                        config.train.evaluate_batches * config.train.batch, looks, workers, tapes);
  if (gradients && gradient) add_gradient_norms(inspection, run.parameters, gradient);
  return as_metrics(inspection);
}

} // namespace

Outcome train(const Config& config, const Task& task, const std::optional<Checkpoint>& from,
              const TrainingHooks& hooks) {
  if (hooks.ranks) require_work_for(*hooks.ranks, config.train);
  RunModel run(config, task);
  run.parameters.initialise(config.init_seed());
  if (!from) take_start(config, run, hooks);
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(config, run.parameters);
  Place place;
  if (from) place = restore(run, *optimizer, *from);
  ThreadPool workers(thread_count(config.train), hooks.ranks, hooks.threads ? most_useful_threads : 0);
  StepRunner step(config, task, run, *optimizer, workers);

  const TrainOptions& t = config.train;
  const double before = place.seconds;
  const std::int64_t resumed_at = place.step;
  const auto now = [&] { return hooks.now ? hooks.now() : machine_seconds(); };
  const double begin = now();
  const auto report = [&](std::vector<std::pair<std::string, double>> values) {
    if (hooks.measured)
      hooks.measured({place.step, place.seconds, place.tokens, std::move(values), place.step_seconds});
  };
  const auto keep = [&] {
    require_finite(run.parameters, place.step);
    if (hooks.checkpoint) hooks.checkpoint(make_checkpoint(config, run, *optimizer, place));
  };
  const auto due = [&](std::int64_t every) { return every > 0 && place.step % every == 0; };
  const auto evaluate = [&] {
    auto values = evaluate_split(config, task, run, Split::validation, t.evaluate_batches * t.batch, workers,
                                 step.tapes());
    for (auto& estimate : loss_estimate(config, task, run, Split::validation, place.step, workers, step.tapes()))
      values.push_back(std::move(estimate));
    place.seconds = before + now() - begin;
    require_finite(values, place.step);
    report(std::move(values));
  };
  const auto inspect = [&](const Real* gradient) {
    auto values = look_inside(config, task, run, workers, step.tapes(), gradient);
    place.seconds = before + now() - begin;
    report(std::move(values));
  };

  if (t.steps == 0 && !from) { // the untrained model, or that of [train] start
    evaluate();
    if (t.inspect != "none") inspect(nullptr);
    keep();
  }

  while (place.step < t.steps) {
    const double step_began = now();
    const auto result = step(place.step);
    const double step_ended = now();
    ++place.step;
    place.tokens += result.tokens;
    place.seconds = before + step_ended - begin;
    if (place.step_seconds) *place.step_seconds += step_ended - step_began;
    const bool last = place.step == t.steps;
    if (due(t.log_every) || last)
      report({{"train_loss", result.loss},
              {"learning_rate", result.learning_rate},
              {"grad_norm", result.gradient_norm}});
    if (due(t.evaluate_every) || last) evaluate();
    if (t.inspect != "none" && (due(t.inspect_every) || last)) inspect(step.gradients());
    if (hooks.threads) workers.grow(hooks.threads());
    if (hooks.progress)
      hooks.progress({place.step, t.steps, result.loss,
                      static_cast<double>(place.step - resumed_at) / std::max(1e-9, now() - begin)});
    const bool stop = !last && decided(workers, hooks.stop_requested && hooks.stop_requested());
    if (due(t.checkpoint_every) || last || stop) keep();
    if (stop) return Outcome::interrupted;
  }
  return Outcome::finished;
}

} // namespace heed::HEED_REAL
