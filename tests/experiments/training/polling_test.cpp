// Tests of stopping an evaluation, the outputs of a split, and an inspection.
#include "experiments/config/config.hpp"
#include "experiments/system/polling.hpp"
#include "tests/experiments/training/training_support.hpp"

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace heed;
using namespace heed::test;

namespace {

struct Stop {};

/// How often `work` polls, if the poll number `last` stops it; 0: none does.
int polls_of(const std::function<void()>& work, int last, bool& stopped) {
  std::atomic<int> calls = 0;
  stopped = false;
  const PollScope scope([&] {
    if (++calls == last) throw Stop();
  });
  try {
    work();
  } catch (const Stop&) {
    stopped = true;
  }
  return calls;
}

} // namespace

TEST_CASE("long functions poll before each batch, and stop when the poll throws", "[training]") {
  const std::vector<std::pair<std::string, std::string>> kinds{{tiny_decoder, "task.copy.symbols=8"},
                                                               {tiny_encoder_decoder, "task.copy.symbols=8"},
                                                               {tiny_encoder, "task.parity.length=14"},
                                                               {tiny_patches, "task.shapes.size=10"}};
  for (const auto& [base, more_examples] : kinds) {
    const Config c = config(base, {"train.steps=1", "task.validation=150", more_examples});
    const History h = train(c);
    const auto task = make_task(c);
    const Engine& with = engine(c);
    const std::vector<std::pair<std::string, std::function<void()>>> functions{
        {"evaluate", [&] { with.evaluate(c, *task, h.last(), Split::validation); }},
        {"outputs", [&] { with.outputs(c, *task, h.last(), Split::validation, [](const ExampleOutput&) {}); }},
        {"inspect", [&] { with.inspect(c, *task, &h.last(), Split::validation, 0); }}};
    for (const auto& [name, function] : functions) {
      INFO(name << " of " << base);
      bool stopped = false;
      const int all = polls_of(function, 0, stopped);
      CHECK_FALSE(stopped);
      CHECK(all >= 10); // 150 sequences, 16 at a time
      const int until = polls_of(function, 2, stopped);
      CHECK(stopped);
      CHECK(until < all); // each thread may be before one more batch
    }
    CHECK(PollScope::current() == nullptr);
  }
}
