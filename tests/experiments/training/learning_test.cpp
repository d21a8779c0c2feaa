// Tests of runs that must learn and runs that must fail. The required results are so low that other seeds, and
// therefore other rounding errors, exceed them by far.
#include "experiments/config/config.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <algorithm>
#include <cmath>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

// The task of copying 8 symbols, which takes some 60 steps to learn.
const std::string copying = R"(
seed = 3
[task]
kind = "copy"
validation = 128
[task.copy]
length = 8
symbols = 8
[model]
layers = 2
width = 32
heads = 2
init_std = 0.1
[position]
kind = "learned"
[train]
steps = 30
batch = 32
learning_rate = 3e-3
warmup = 10
clip = 1.0
log_every = 5
)";

// A text that repeats one sentence. Every character of a window is predictable, except the first few.
struct Sentence {
  Folder folder;
  std::string path;

  Sentence() {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "the quick brown fox jumps over the lazy dog; ";
    path = folder.write("text.txt", text).string();
  }
  Config operator()(std::vector<std::string> assignments = {}) const {
    assignments.push_back("data.path=" + path);
    return config(R"(
[task]
kind = "text"
[task.text]
block = 16
[model]
layers = 1
width = 32
heads = 2
init_std = 0.1
[train]
steps = 200
batch = 16
learning_rate = 1e-2
warmup = 10
)",
                  assignments);
  }
};

bool finite(const Checkpoint& c) {
  for (const StoredTensor& t : c.tensors)
    for (double x : numbers_of(c, t.name))
      if (!std::isfinite(x)) return false;
  return true;
}

} // namespace

TEST_CASE("a short run has the losses that were recorded for this version of the numerics", "[training][golden]") {
  // Recorded on one machine. Other CPUs may differ in the last bits; 30 steps do not amplify the difference to 1 in
  // 1000.
  REQUIRE(numerics_of(flatten(config(copying))) == "13");
  const std::vector<double> recorded = {2.117110, 2.051428, 1.980635, 1.882749, 1.813498, 1.483243};
  for (const std::string precision : {"float32", "float64"}) {
    INFO(precision);
    const History h = train(config(copying, {"precision=" + precision}));
    const std::vector<double> found = h.all("train_loss");
    for (double loss : found) UNSCOPED_INFO(fmt::format("{:.6f}", loss));
    REQUIRE(found.size() == recorded.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(recorded[i]).epsilon(1e-3));
  }
}

TEST_CASE("an untrained model's loss is that of guessing: ln of the number of classes", "[training]") {
  for (const auto& [base, classes] :
       {std::pair{tiny_decoder, 6}, {tiny_encoder, 2}}) { // 5 symbols and a separator; odd or even
    Config c = config(base, {"model.init_std=0.02"});
    const auto sizes = make_task(c)->sizes(c.model.kind == "decoder" ? TaskFormat::language_model
                                                                     : TaskFormat::classification);
    CHECK(sizes.classes == classes);
    CHECK(train(c).all("train_loss")[0] == Approx(std::log(classes)).epsilon(0.02));
  }
}

TEST_CASE("a small decoder learns to copy", "[training][learning]") {
  const History h = train(config(copying, {"train.steps=200", "train.schedule=cosine"}));
  CHECK(h.all("train_loss")[0] > 1.8);
  CHECK(h.final("val_accuracy") > 0.99);
  CHECK(h.final("val_sequence_accuracy") > 0.95);
  CHECK(h.final("val_loss") < 0.1);
}

TEST_CASE("a small encoder learns to name the value in a sequence, in sequences that it has not seen",
          "[training][learning]") {
  const History h = train(config(R"(
seed = 3
[task]
kind = "recall"
validation = 16
[task.recall]
pairs = 1
keys = 16
values = 16
[model]
kind = "encoder"
layers = 2
width = 32
heads = 2
init_std = 0.1
[position]
kind = "learned"
[train]
steps = 300
learning_rate = 3e-3
warmup = 20
schedule = "cosine"
clip = 1.0
)"));
  CHECK(h.all("train_loss")[0] > 2);
  CHECK(h.final("train_loss") < 0.1);
  CHECK(h.final("val_accuracy") > 0.99);
}

TEST_CASE("an encoder learns a handful of examples by heart", "[training][learning]") {
  const History h = train(config(tiny_encoder,
                                 {"task.kind=modular_addition", "task.modular_addition.modulus=13",
                                  "task.validation=16", "task.test=16", "model.width=32", "train.steps=500",
                                  "train.batch=32", "train.learning_rate=3e-3", "train.warmup=20"}));
  CHECK(h.final("train_loss") < 0.05);
}

TEST_CASE("a decoder learns a short text by heart", "[training][learning]") {
  const Sentence sentence;
  const History h = train(sentence());
  CHECK(h.all("train_loss")[0] > 2);
  CHECK(h.final("train_loss") < 0.3);
  CHECK(h.final("val_loss") < 0.3);
}

TEST_CASE("every optimiser and every schedule trains", "[training][learning]") {
  const Sentence sentence;
  for (const std::string& optimizer : find_option("train.optimizer")->words)
    for (const std::string& schedule : find_option("train.schedule")->words) {
      INFO(optimizer << ", " << schedule);
      // Plain gradient descent takes larger steps than methods that divide by the gradient's size.
      double best = INFINITY;
      for (const std::string rate : {"1e-2", "0.3"}) {
        const History h = train(sentence({"train.optimizer=" + optimizer, "train.schedule=" + schedule,
                                          "train.learning_rate=" + rate, "train.steps=100", "train.clip=1"}));
        CHECK(finite(h.last()));
        best = std::min(best, h.final("val_loss"));
      }
      CHECK(best < 2.5); // guessing gives ln 28 = 3.3; character frequencies alone give 3.0
    }
}

TEST_CASE("the learning rate of each step is the schedule's", "[training]") {
  const auto rates = [](const std::vector<std::string>& assignments) {
    return train(config(tiny_decoder, assignments)).all("learning_rate");
  };
  // 6 steps at learning rate 0.01, by the formulas in autograd/schedule.hpp.
  const auto check = [&](const std::vector<std::string>& assignments, const std::vector<double>& expected) {
    const std::vector<double> found = rates(assignments);
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(0.01 * expected[i]).epsilon(1e-9));
  };
  check({}, {1, 1, 1, 1, 1, 1});
  check({"train.warmup=3"}, {0.25, 0.5, 0.75, 1, 1, 1});
  check({"train.schedule=noam", "train.warmup=3"}, {0.25, 0.5, 0.75, 1, std::sqrt(4.0 / 5), std::sqrt(4.0 / 6)});
}

TEST_CASE("a run whose loss is not finite fails, names the step and the operation, and keeps what it had",
          "[training][nan]") {
  Config c = config(tiny_decoder, {"train.checkpoint_every=1", "train.threads=2"});
  c.train.learning_rate = 1e30;
  for (const std::string optimizer : {"adamw", "sgd"}) {
    INFO(optimizer);
    c.train.optimizer = optimizer;
    std::vector<Checkpoint> kept;
    TrainingHooks hooks;
    hooks.checkpoint = [&](const Checkpoint& checkpoint) { kept.push_back(checkpoint); };
    const auto task = make_task(c);
    const std::string message = failure([&] { engine(c).train(c, *task, {}, hooks); });
    INFO(message);
    CHECK_THAT(message, Contains("step 2") && Contains("not finite") && Contains("[") && Contains("learning_rate"));
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].metadata.at("step") == "1");
    CHECK(kept[0].metadata.at("numerics") == numerics_of(flatten(c)));
    CHECK(finite(kept[0]));
  }
}

TEST_CASE("weights that overflow at once fail in the first step", "[training][nan]") {
  Config c = config(tiny_decoder);
  c.model.init_std = INFINITY;
  CHECK_THAT(failure([&] { train(c); }), Contains("step 1") && Contains("not finite") && Contains("["));
}

TEST_CASE("a last step that spoils the model fails as well", "[training][nan]") {
  Config c = config(tiny_decoder, {"train.steps=1"});
  c.train.learning_rate = 1e30;
  CHECK_THAT(failure([&] { train(c); }), Contains("step 1") && Contains("not finite") && Contains("learning_rate"));
}
