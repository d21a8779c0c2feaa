// Tests that training with several processes is bit-identical to training with one.
#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "tests/experiments/training/training_support.hpp"

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

// Dropout, clipping, padding, metrics on heads and modules, decoded metrics, and shards of unequal size.
std::vector<Config> process_group_configurations() {
  const std::vector<std::string> all = {"attention.dropout=0.1", "model.dropout=0.1", "train.clip=0.5",
                                        "train.evaluate_every=3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), all.begin(), all.end());
    return more;
  };
  return {
      config(tiny_decoder, with({"train.shards=4", "train.inspect=all", "train.inspect_every=5"})),
      config(tiny_decoder, with({"precision=float64", "attention.score=additive", "train.shards=5"})),
      config(tiny_encoder, with({"train.shards=4", "train.evaluate_by_length=true", "train.evaluate_lengths=[9, 20]"})),
      config(tiny("kind = \"scan\"", "kind = \"encoder_decoder\"",
                  "batch_tokens = 130\nevaluate_batches = 3\nevaluate_random_batches = 2\n"),
             with({"train.shards=8", "train.evaluate_beam=2"}))};
}

} // namespace

TEST_CASE("a run's bits do not depend on its processes", "[training][bits][ranks]") {
  for (Config c : process_group_configurations()) {
    c.train.threads = 1;
    const History one = train(c);
    for (const int count : {1, 2, 4})
      for (const std::int64_t threads : {1, 2}) {
        INFO(count << " processes of " << threads << " threads");
        c.train.threads = threads;
        const History found = train_together(count, c);
        CHECK(found.outcome == Outcome::finished);
        CHECK(text_of(found.metrics) == text_of(one.metrics));
        REQUIRE(!found.checkpoints.empty());
        CHECK((text_of(found.last()) == text_of(one.last())));
      }
  }
}

TEST_CASE("a run goes on with other numbers of processes, to the same bits", "[training][bits][ranks]") {
  for (Config c : process_group_configurations()) {
    c.train.threads = 1;
    const History whole = train(c);
    const History begun = train_together(4, c, {}, 4);
    CHECK(begun.outcome == Outcome::interrupted);
    REQUIRE(!begun.checkpoints.empty());
    CHECK((text_of(train_together(2, c, begun.last()).last()) == text_of(whole.last())));
    CHECK((text_of(train(c, begun.last()).last()) == text_of(whole.last())));
  }
}

TEST_CASE("more processes than shards are refused", "[training][ranks]") {
  const Config c = config(tiny_decoder, {"train.shards=3"});
  try {
    train_together(4, c);
    FAIL("it was not refused");
  } catch (const Refused& error) {
    CHECK_THAT(error.what(), Contains("4 processes") && Contains("3 shards") && Contains("Start 2 at most"));
  }
}

TEST_CASE("a loss that isn't finite is told alike by all processes, and by one", "[training][ranks]") {
  const Config c = config(tiny_decoder, {"train.shards=4", "train.learning_rate=1000000", "train.optimizer=sgd"});
  const auto failure_of = [](const auto& work) {
    try {
      work();
    } catch (const Failed& error) {
      return std::string(error.what());
    }
    return std::string("it did not fail");
  };
  const std::string alone = failure_of([&] { train(c); });
  CHECK_THAT(alone, Contains("not finite"));
  ThreadRanks::run(4, [&](Ranks& ranks) {
    const std::string found = failure_of([&] { train(c, {}, 0, &ranks); });
    if (found != alone) throw Failed(found);
  });
}
