// Tests of the weights that a run takes from another run, within training: their names, shapes and precision.
#include "experiments/training/start_match.hpp"

#include "experiments/config/config.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <limits>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

template <class Number> StoredTensor tensor(const std::string& name, const std::vector<Number>& numbers) {
  StoredTensor out{name, {static_cast<std::int64_t>(numbers.size())}, sizeof(Number) == 8, {}};
  out.bytes.resize(numbers.size() * sizeof(Number));
  std::memcpy(out.bytes.data(), numbers.data(), out.bytes.size());
  return out;
}

using Names = std::vector<std::string>;

/// Trains with the weights of a start. The hook is counted.
History train_from(const Config& config, const Checkpoint& weights, int& calls, Ranks* ranks = nullptr,
                   const std::optional<Checkpoint>& from = {}) {
  const auto task = make_task(config);
  History h;
  TrainingHooks hooks;
  hooks.ranks = ranks;
  hooks.start = [&] {
    ++calls;
    return weights;
  };
  if (!ranks || ranks->rank() == 0) {
    hooks.measured = [&](const MetricsRecord& m) { h.metrics.push_back(m); };
    hooks.checkpoint = [&](const Checkpoint& c) { h.checkpoints.push_back(c); };
  }
  h.outcome = engine(config).train(config, *task, from, hooks);
  return h;
}

/// The model's weights in a checkpoint.
Checkpoint weights_in(const Config& config, const Checkpoint& checkpoint) {
  const auto parameters = engine(config).parameters(config, *make_task(config));
  return taken_weights(match_weights(parameters, checkpoint), Checkpoint(checkpoint), config.float64());
}

} // namespace

TEST_CASE("weights are matched by name and shape", "[training][start]") {
  Checkpoint weights;
  weights.tensors = {tensor<float>("a", {1, 2}), tensor<float>("b", {1}), tensor<float>("c", {1}),
                     tensor<float>("optimizer.m.a", {1, 2})};
  const StartMatch match = match_weights(std::vector<ParameterShape>{{"b", {2}}, {"d", {}}, {"a", {2}}, {"e", {3}}},
                                         weights);
  CHECK(match.taken == Names{"a"});
  CHECK(match.reshaped == Names{"b ([2] here, [1] there)"});
  CHECK(match.missing == Names{"d", "e"});
  CHECK(match.unused == Names{"c"});
  CHECK_FALSE(match.all());
  CHECK(differences_in_words(match) == "1 parameter has another shape: b ([2] here, [1] there); 2 parameters are not "
                                       "in the start: d, e; 1 parameter is only in the start: c");
  CHECK(match_weights(std::vector<ParameterShape>{{"c", {1}}, {"b", {1}}, {"a", {2}}}, weights).all());
  StartMatch many;
  for (int i = 0; i < 9; ++i) many.missing.push_back(fmt::format("w{}", i));
  CHECK(differences_in_words(many) == "9 parameters are not in the start: w0, w1, w2, w3, w4, w5 and 3 more");
}

TEST_CASE("float32 becomes float64 exactly, and float64 the nearest float32", "[training][start]") {
  const std::vector<float> singles{0.1F, -3.5e-40F, 3.4e38F, -0.0F};
  const std::vector<double> doubles{0.1, 1 + 0x1p-30, -1e-60, 2.5};
  StartMatch match;
  match.taken = {"x"};
  Checkpoint wide;
  wide.tensors = {tensor("y", doubles), tensor("x", singles)};
  const Checkpoint as_doubles = taken_weights(match, std::move(wide), true);
  REQUIRE(as_doubles.tensors.size() == 1);
  CHECK(as_doubles.tensors[0].float64);
  const std::vector<double> exact(singles.begin(), singles.end());
  CHECK(as_doubles.tensors[0].bytes == tensor("x", exact).bytes);
  Checkpoint narrow;
  narrow.tensors = {tensor("x", doubles)};
  CHECK(taken_weights(match, std::move(narrow), false).tensors[0].bytes ==
        tensor<float>("x", {0.1F, 1.0F, -0.0F, 2.5F}).bytes);
  Checkpoint large;
  large.tensors = {tensor<double>("x", {1e300})};
  CHECK_THAT(refusal([&] { taken_weights(match, std::move(large), false); }), Contains("too large for float32"));
  // Infinite and undefined values are values of both types.
  Checkpoint odd;
  odd.tensors = {tensor<double>("x", {std::numeric_limits<double>::infinity()})};
  CHECK(taken_weights(match, std::move(odd), false).tensors[0].bytes ==
        tensor<float>("x", {std::numeric_limits<float>::infinity()}).bytes);
}

TEST_CASE("training from weights begins with them, on any number of processes", "[training][start][ranks]") {
  const History before = train(config(tiny_decoder));
  const Config c = config(tiny_decoder, {"train.start=0123456789abcdef", "seed=2", "train.shards=4"});
  const Checkpoint weights = weights_in(c, before.last());
  int calls = 0;
  const History alone = train_from(c, weights, calls);
  CHECK(calls == 1);
  std::vector<int> called(2);
  History together;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    History h = train_from(c, weights, called[static_cast<std::size_t>(ranks.rank())], &ranks);
    if (ranks.rank() == 0) together = std::move(h);
  });
  CHECK(called == std::vector<int>{1, 1});
  CHECK(text_of(together.metrics) == text_of(alone.metrics));
  CHECK((text_of(together.last()) == text_of(alone.last())));
  // A checkpoint to continue from has priority.
  calls = 0;
  train_from(c, weights, calls, nullptr, alone.checkpoints.front());
  CHECK(calls == 0);
  // Without the option, the hook is not called; without the hook, the option fails.
  CHECK(text_of(train_from(config(tiny_decoder), weights, calls).metrics) == text_of(before.metrics));
  CHECK(calls == 0);
  CHECK_THAT(failure([&] { train(c); }), Contains("the weights of this run are not given"));
}

TEST_CASE("with a learning rate of almost 0, a run keeps the results of its start", "[training][start]") {
  for (const char* precision : {"precision=float32", "precision=float64"}) {
    const Config first = config(tiny_decoder, {precision});
    const History before = train(first);
    const Config c = config(tiny_decoder, {precision, "train.start=0123456789abcdef", "train.optimizer=sgd",
                                           "train.learning_rate=1e-300", "seed=9"});
    int calls = 0;
    const History after = train_from(c, weights_in(c, before.last()), calls);
    for (const double loss : after.all("val_loss")) CHECK(loss == before.final("val_loss"));
  }
}

TEST_CASE("tensors that are no parameters are not accepted as a start", "[training][start]") {
  const Config c = config(tiny_decoder, {"train.start=0123456789abcdef"});
  Checkpoint weights;
  weights.tensors = {tensor<float>("no parameter", {1})};
  int calls = 0;
  CHECK_THAT(failure([&] { train_from(c, weights, calls); }), Contains("1 of its 1 tensors are no parameters"));
  CHECK(calls == 1);
}
