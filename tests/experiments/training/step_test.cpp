// Tests of one optimizer step in double precision, against computations in the test.
#define HEED_REAL f64 // in double precision, so that compared values differ only by rounding
#include "experiments/config/config.hpp"
#include "experiments/training/optimizers.hpp"
#include "experiments/training/step.hpp"
#include "tests/autograd/heap.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <cmath>
#include <limits>
#include <map>

using namespace heed;
using namespace heed::f64;
using test::config;

namespace {

// A model with initial parameters, and the loss and gradient of a whole batch in one piece.
struct Start {
  Config config;
  std::unique_ptr<Task> task;
  RunModel run;
  std::vector<double> gradients;
  double loss = 0;

  explicit Start(const Config& c) : config(c), task(make_task(c)), run(c, *task) {
    run.parameters.initialise(static_cast<std::uint64_t>(c.general.seed));
    gradients.resize(static_cast<std::size_t>(run.parameters.extent()));
  }

  // Without the engine's shards and loss function: -sum log p(target) over the targets that count, divided by their
  // number.
  double naive_loss(double smoothing = 0) {
    Batch batch;
    fill_training_batch(config, *task, run, 0, 0, config.train.batch, batch);
    Tape tape;
    tape.record(false);
    Pass pass(tape, run.parameters, nullptr, {});
    const Tensor logits = run.model->logits(pass, batch);
    const std::int64_t classes = logits.shape[-1];
    double total = 0;
    std::int64_t count = 0;
    for (std::size_t row = 0; row < batch.targets.size(); ++row) {
      if (batch.targets[row] == ignored) continue;
      const double* p = logits.data + static_cast<std::int64_t>(row) * classes;
      double normaliser = 0, mean = 0;
      for (std::int64_t i = 0; i < classes; ++i) {
        normaliser += std::exp(p[i]);
        mean += p[i] / static_cast<double>(classes);
      }
      total += std::log(normaliser) - (1 - smoothing) * p[batch.targets[row]] - smoothing * mean;
      ++count;
    }
    return total / static_cast<double>(count);
  }

  void differentiate() {
    Batch batch;
    fill_training_batch(config, *task, run, 0, 0, config.train.batch, batch);
    Tape tape;
    Pass pass(tape, run.parameters, gradients.data(), {.training = true, .seed = 0, .step = 0});
    const Tensor l = cross_entropy(run.model->logits(pass, batch), batch.targets.data());
    tape.backward(l);
    pass.finish_gradients();
    loss = l.item();
  }

  // Parameters by name, after the engine's first step.
  std::map<std::string, std::vector<double>> stepped() const {
    Config one = config;
    one.train.steps = 1;
    const test::History h = test::train(one);
    std::map<std::string, std::vector<double>> out;
    for (const auto& e : run.parameters.entries()) out[e.name] = test::numbers_of(h.last(), e.name);
    return out;
  }

  double norm() const {
    double square = 0;
    for (const auto& e : run.parameters.entries())
      for (std::int64_t i = 0; i < e.shape.size(); ++i)
        square += std::pow(gradients[static_cast<std::size_t>(e.offset + i)], 2);
    return std::sqrt(square);
  }

  // Compares every value after one step with `update(value, gradient, does it decay)`. All parameters decay except
  // biases and norm gains.
  void expect(const std::function<double(double, double, bool)>& update) {
    differentiate();
    const auto after = stepped();
    for (const auto& e : run.parameters.entries()) {
      INFO(e.name);
      double worst = 0;
      for (std::int64_t i = 0; i < e.shape.size(); ++i) {
        const double before = run.parameters.values()[e.offset + i];
        const bool decays = !e.name.ends_with(".bias") && e.name.find("norm") == std::string::npos;
        const double expected = update(before, gradients[static_cast<std::size_t>(e.offset + i)], decays);
        worst = std::max(worst, std::abs(after.at(e.name)[static_cast<std::size_t>(i)] - expected));
      }
      CHECK(worst < 1e-9);
    }
  }
};

Config tiny(std::vector<std::string> assignments) {
  assignments.push_back("precision=float64");
  return config(test::tiny_decoder, assignments);
}

} // namespace

TEST_CASE("the first AdamW step is rate decay of matrices, and rate times the gradient's sign", "[training][step]") {
  // Kingma and Ba's bias corrections make the first step g / (|g| + epsilon); Loshchilov and Hutter's weight decay is
  // separate.
  Start start(tiny({"train.adamw.weight_decay=0.3", "train.adamw.epsilon=1e-3", "train.learning_rate=0.02"}));
  start.expect([](double w, double g, bool matrix) {
    return w * (1 - (matrix ? 0.02 * 0.3 : 0)) - 0.02 * g / (std::abs(g) + 1e-3);
  });
}

TEST_CASE("the first Adam step has the decay within the gradient", "[training][step]") {
  Start start(tiny({"train.optimizer=adam", "train.adam.weight_decay=0.3", "train.adam.epsilon=1e-3",
                    "train.learning_rate=0.02"}));
  start.expect([](double w, double g, bool matrix) {
    const double all = g + (matrix ? 0.3 * w : 0);
    return w - 0.02 * all / (std::abs(all) + 1e-3);
  });
}

TEST_CASE("an SGD step goes along the gradient of the whole batch, clipped to its norm", "[training][step]") {
  for (std::int64_t shards : {1, 2, 3, 7}) {
    INFO(shards << " shards");
    const auto with = [&](const std::string& clip) {
      return tiny({"train.optimizer=sgd", "train.learning_rate=0.5", "train.clip=" + clip,
                   "train.shards=" + std::to_string(shards)});
    };
    Start plain(with("0"));
    plain.expect([](double w, double g, bool) { return w - 0.5 * g; });
    const double norm = plain.norm();
    Start clipped(with(fmt::format("{}", norm / 3)));
    clipped.expect([&](double w, double g, bool) { return w - 0.5 * g * (norm / 3) / (norm + 1e-6); });
    Start loose(with(fmt::format("{}", norm * 3)));
    loose.expect([](double w, double g, bool) { return w - 0.5 * g; });
  }
}

TEST_CASE("train_loss is the mean over the batch's targets before the step, and grad_norm the norm before clipping",
          "[training][step]") {
  for (const std::string clip : {"0", "0.01"})
    for (const std::string& base : {test::tiny_decoder, test::tiny_encoder}) {
      Start start(config(base, {"precision=float64", "train.clip=" + clip}));
      start.differentiate();
      CHECK(start.loss == Approx(start.naive_loss()).epsilon(1e-12));
      const test::History h = test::train(start.config);
      CHECK(h.all("train_loss")[0] == Approx(start.naive_loss()).epsilon(1e-12));
      CHECK(h.all("grad_norm")[0] == Approx(start.norm()).epsilon(1e-12));
    }
}

TEST_CASE("label smoothing is in the training loss, and not in the validation loss", "[training][step]") {
  Start start(tiny({"train.label_smoothing=0.2", "train.learning_rate=1e-12"}));
  const test::History smoothed = test::train(start.config);
  CHECK(smoothed.all("train_loss")[0] == Approx(start.naive_loss(0.2)).epsilon(1e-12));
  CHECK(std::abs(start.naive_loss(0.2) - start.naive_loss()) > 1e-6);
  const test::History plain = test::train(tiny({"train.learning_rate=1e-12"}));
  CHECK(smoothed.final("val_loss") == Approx(plain.final("val_loss")).epsilon(1e-9));
}

TEST_CASE("tokens count what is not padding", "[training]") {
  Start start(tiny({}));
  std::int64_t expected = 0;
  std::vector<std::int64_t> after;
  for (std::int64_t step = 0; step < start.config.train.steps; ++step) {
    Batch batch;
    fill_training_batch(start.config, *start.task, start.run, step, 0, start.config.train.batch, batch);
    for (std::int32_t n : batch.lengths) expected += n;
    after.push_back(expected);
  }
  for (const MetricsRecord& m : test::train(start.config).metrics)
    CHECK(m.tokens == after[static_cast<std::size_t>(m.step - 1)]);
}

TEST_CASE("a step with a loss that is not finite names itself and the operation, and leaves the parameters",
          "[training][nan]") {
  Start start(tiny({}));
  start.run.parameters.values()[start.run.parameters.find("blocks.1.ffn.expand.weight")->offset + 3] =
      std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> before(start.run.parameters.values(),
                                   start.run.parameters.values() + start.run.parameters.extent());
  const auto optimizer = make_optimizer(start.config, start.run.parameters);
  for (int threads : {1, 3}) {
    ThreadPool workers(threads);
    StepRunner step(start.config, *start.task, start.run, *optimizer, workers);
    using Catch::Contains;
    CHECK_THAT(test::failure([&] { step(4); }),
               Contains("step 5") && Contains("loss") && Contains("[linear_activation]"));
    CHECK(std::memcmp(before.data(), start.run.parameters.values(), before.size() * sizeof(double)) == 0);
    for (const Optimizer::StateArray& array : optimizer->state(start.run.parameters))
      CHECK(std::ranges::all_of(array.numbers, [](double x) { return x == 0; }));
  }
}

TEST_CASE("a training step asks for no memory from the third on", "[training][heap]") {
  const std::vector<std::vector<std::string>> cases = {{"attention.score=scaled_dot"},
                                                       {"attention.score=additive"},
                                                       // In blocks of queries, recomputed in the backward pass.
                                                       {"attention.normalizer=sparsemax", "position.kind=shaw",
                                                        "attention.dropout=0.1", "task.copy.length=190",
                                                        "train.batch=3"}};
  for (std::vector<std::string> assignments : cases) {
    INFO(assignments.front());
    assignments.push_back("train.clip=1.0");
    Start start(tiny(assignments));
    const auto optimizer = make_optimizer(start.config, start.run.parameters);
    const auto asked_in = [](StepRunner& step, std::int64_t first, std::int64_t steps) {
      const std::int64_t before = heap_calls();
      for (std::int64_t i = first; i < first + steps; ++i) step(i);
      return heap_calls() - before;
    };
    {
      ThreadPool one(1);
      StepRunner step(start.config, *start.task, start.run, *optimizer, one);
      asked_in(step, 0, 2);
      CHECK(asked_in(step, 2, 5) == 0);
    }
    // Which thread takes which shard is random. A thread asks for no memory from its third shard on.
    ThreadPool two(2);
    StepRunner step(start.config, *start.task, start.run, *optimizer, two);
    std::int64_t at = 0;
    while (at < 2000 && asked_in(step, at, 20) > 0) at += 20;
    CHECK(at < 2000);
  }
}
