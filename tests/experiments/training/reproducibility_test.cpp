// Tests that runs are bit-identical for any number of threads, and with or without an interruption.
#include "autograd/thread_pool.hpp"
#include "experiments/config/config.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <chrono>

using namespace heed;
using namespace heed::test;

namespace {

// Everything that could depend on which thread computes what and when: dropout in every place, padding, a schedule,
// clipping.
std::vector<Config> configurations() {
  const std::vector<std::string> all = {"attention.dropout=0.1", "block.dropout=0.2", "model.dropout=0.1",
                                        "train.schedule=cosine", "train.warmup=2",    "train.clip=0.5"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), all.begin(), all.end());
    return more;
  };
  return {config(tiny_decoder, with({})),
          config(tiny_decoder, with({"precision=float64", "attention.score=additive", "train.optimizer=sgd",
                                     "train.sgd.momentum=0.9"})),
          config(tiny_decoder + "[[block.override]]\nlayers = [0]\nmixer.kind = \"mamba2\"\n", with({})),
          config(tiny_encoder, with({"attention.score=cosine", "attention.cosine.learned=true"})),
          // Steps with different sequences, some with fewer sequences than shards; and estimates from random batches.
          config(tiny("kind = \"scan\"", "kind = \"encoder_decoder\"",
                      "batch_tokens = 130\nevaluate_batches = 1\nevaluate_random_batches = 1\n"),
                 with({"train.shards=8"})),
          // The whole of a training split, which is a fixed list, in each step: 48 sequences.
          config(tiny("kind = \"modular_addition\"\n[task.modular_addition]\nmodulus = 11\ntrain = 0.4", "",
                      "full_batch = true\nevaluate_batches = 1\n"),
                 with({}))};
}

} // namespace

TEST_CASE("a run's bits do not depend on its threads", "[training][bits]") {
  for (Config c : configurations()) {
    c.train.threads = 1;
    const History one = train(c);
    CHECK(one.outcome == Outcome::finished);
    for (std::int64_t threads : {2, 3, 8, 16, 0}) {
      INFO(threads << " threads");
      c.train.threads = threads;
      const History found = train(c);
      CHECK(text_of(found.metrics) == text_of(one.metrics));
      CHECK((text_of(found.last()) == text_of(one.last())));
    }
  }
}

TEST_CASE("a run's bits do not depend on how threads share its operations", "[training][bits]") {
  std::vector<Config> all = configurations();
  const std::string task = tiny_copies(9);
  for (const char* cell : {"gru", "lstm", "srn"})
    all.push_back(config("seed = 1\n[task]\n" + task + "[train]\nsteps = 3\nbatch = 7\n",
                         {"model.kind=recurrent", "model.width=16", fmt::format("recurrent.cell={}", cell),
                          "train.optimizer=adam", "train.label_smoothing=0.1"}));
  for (const char* option :
       {"attention.normalizer=sparsemax", "position.kind=rotary", "position.kind=t5", "position.kind=shaw",
        "position.kind=skewed", "block.norm_kind=rms", "block.activation=swiglu", "train.optimizer=muon",
        "attention.score_mod=s - abs(i - j)", "attention.key_value_heads=1", "attention.score=linear",
        "attention.score=additive", "mixer.kind=gla", "mixer.kind=mamba2", "mixer.kind=linear_attention"})
    all.push_back(config(tiny_decoder, {option, "train.inspect=all"}));
  for (const char* normalizer : {"softmax_sink", "entmax15"})
    all.push_back(config(tiny_decoder,
                         {"attention.score=additive", fmt::format("attention.normalizer={}", normalizer)}));
  all.push_back(
      config(tiny("kind = \"shapes\"\nvalidation = 9\ntest = 9\n[task.shapes]\nsize = 12", "kind = \"patches\""), {}));
  for (Config c : all) {
    INFO(to_toml(c));
    c.train.threads = 1;
    const History whole = train(c);
    for (const int parts : {2, 5}) {
      INFO(parts << " parts");
      const CutEverything cut(parts);
      const History found = train(c);
      CHECK(text_of(found.metrics) == text_of(whole.metrics));
      CHECK((text_of(found.last()) == text_of(whole.last())));
    }
  }
}

// The shapes of README's models, so that operations are long enough to be shared.
TEST_CASE("large steps have the same bits on any number of threads, and in any number of processes",
          "[training][bits][ranks][many]") {
  struct Size {
    const char* model;
    int layers, width, heads, length, batch;
  };
  for (const Size& s : {Size{"decoder", 2, 64, 2, 16, 32}, Size{"decoder", 2, 128, 4, 32, 12},
                        Size{"decoder", 1, 256, 4, 64, 16}, Size{"recurrent", 2, 128, 1, 16, 128}}) {
    Config c = config(fmt::format(R"(
seed = 1
[task]
kind = "copy"
validation = 4
test = 4
[task.copy]
length = {}
[model]
kind = "{}"
width = {}
[train]
steps = 2
batch = {}
)",
                                  s.length, s.model, s.width, s.batch),
                      {});
    if (std::string(s.model) == "decoder")
      c = config(to_toml(c), {fmt::format("model.layers={}", s.layers), fmt::format("model.heads={}", s.heads),
                              s.width == 256 ? "position.kind=skewed" : "position.kind=learned"});
    CHECK(c.train.shards == 4);
    INFO(s.model << " of width " << s.width);
    c.train.threads = 1;
    const History one = train(c);
    for (const int threads : {2, 3, 8, 16}) {
      INFO(threads << " threads");
      c.train.threads = threads;
      CHECK((text_of(train(c).last()) == text_of(one.last())));
    }
    for (const int processes : {2, 4}) {
      INFO(processes << " processes");
      c.train.threads = 2;
      CHECK((text_of(train_together(processes, c).last()) == text_of(one.last())));
    }
  }
}

TEST_CASE("a run whose threads become more while it is trained has the same bits", "[training][bits]") {
  for (Config c : configurations()) {
    c.train.threads = 1;
    const History one = train(c);
    const auto task = make_task(c);
    std::vector<MetricsRecord> metrics;
    Checkpoint last;
    int threads = 1;
    TrainingHooks hooks;
    hooks.measured = [&](const MetricsRecord& m) { metrics.push_back(m); };
    hooks.checkpoint = [&](Checkpoint checkpoint) { last = std::move(checkpoint); };
    hooks.threads = [&] { return ++threads; };
    engine(c).train(c, *task, std::nullopt, hooks);
    CHECK(threads == 1 + c.train.steps);
    CHECK(text_of(metrics) == text_of(one.metrics));
    CHECK((text_of(last) == text_of(one.last())));
  }
}

TEST_CASE("a run that is trained twice has the same bits, and another seed has others", "[training][bits]") {
  for (Config c : configurations()) {
    const History first = train(c), second = train(c);
    CHECK((text_of(first.last()) == text_of(second.last())));
    ++c.general.seed;
    const History other = train(c);
    CHECK((text_of(first.last()) != text_of(other.last())));
    CHECK(text_of(first.metrics) != text_of(other.metrics));
  }
}

TEST_CASE("a run interrupted at any step and continued ends in the same bits", "[training][bits]") {
  for (const Config& c : configurations()) {
    const History whole = train(c);
    for (std::int64_t k = 1; k < c.train.steps; ++k) {
      INFO("interrupted after step " << k);
      const History before = train(c, {}, k);
      CHECK(before.outcome == Outcome::interrupted);
      CHECK(before.last().metadata.at("step") == std::to_string(k));
      const History after = train(c, before.last());
      CHECK(after.outcome == Outcome::finished);
      std::vector<MetricsRecord> metrics = before.metrics;
      metrics.insert(metrics.end(), after.metrics.begin(), after.metrics.end());
      CHECK(text_of(metrics) == text_of(whole.metrics));
      CHECK((text_of(after.last()) == text_of(whole.last())));
    }
  }
}

TEST_CASE("a run interrupted after every step ends in the same bits", "[training][bits]") {
  for (const Config& c : configurations()) {
    const History whole = train(c);
    std::optional<Checkpoint> from;
    std::vector<MetricsRecord> metrics;
    for (std::int64_t k = 1; k <= c.train.steps; ++k) {
      const History part = train(c, from, k);
      CHECK(part.outcome == (k == c.train.steps ? Outcome::finished : Outcome::interrupted));
      metrics.insert(metrics.end(), part.metrics.begin(), part.metrics.end());
      from = part.last();
    }
    CHECK(text_of(metrics) == text_of(whole.metrics));
    CHECK((text_of(*from) == text_of(whole.last())));
  }
}

TEST_CASE("a run goes on from any of its checkpoints, not from its last alone", "[training][bits]") {
  Config c = configurations()[0];
  c.train.checkpoint_every = 2;
  const History whole = train(c);
  REQUIRE(whole.checkpoints.size() == 3);
  const History after = train(c, whole.checkpoints[0]);
  CHECK((text_of(after.last()) == text_of(whole.last())));
  REQUIRE(after.metrics.size() < whole.metrics.size());
  CHECK(text_of(after.metrics) ==
        text_of({whole.metrics.end() - static_cast<std::ptrdiff_t>(after.metrics.size()), whole.metrics.end()}));
}

TEST_CASE("the seconds of a continued run count on from the checkpoint's", "[training]") {
  const Config c = config(tiny_decoder);
  Checkpoint half = train(c, {}, 3).last();
  half.metadata["seconds"] = "1000";
  const auto start = std::chrono::steady_clock::now();
  const History after = train(c, half);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  for (const MetricsRecord& m : after.metrics) CHECK(m.seconds >= 1000);
  CHECK(after.metrics.back().seconds <= 1000 + taken.count());
}

TEST_CASE("a finished run has nothing left to do", "[training]") {
  const Config c = config(tiny_decoder);
  const History whole = train(c);
  const History again = train(c, whole.last());
  CHECK(again.outcome == Outcome::finished);
  CHECK(again.metrics.empty());
  CHECK(again.checkpoints.empty());
}

TEST_CASE("a checkpoint of another configuration is not taken", "[training]") {
  const Config c = config(tiny_decoder);
  const Checkpoint mine = train(c).last();
  using Catch::Contains;
  const auto message = [&](const std::vector<std::string>& assignments) {
    return failure([&] { train(config(tiny_decoder, assignments), mine); });
  };
  CHECK_THAT(message({"model.width=16"}), Contains("[checkpoint]") && Contains("embedding.weight"));
  CHECK_THAT(message({"precision=float64"}), Contains("float64"));
  CHECK_THAT(message({"train.optimizer=sgd", "train.sgd.momentum=0.9"}), Contains("sgd.momentum"));
  CHECK_THAT(message({"model.layers=3"}), Contains("blocks.2"));
}
