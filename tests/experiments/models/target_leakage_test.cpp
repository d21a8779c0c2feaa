// Tests which positions see the token that they predict: what the masks imply, against models in which that token is
// replaced.
#include "experiments/models/segments.hpp"
#include "experiments/models/target_leakage.hpp"
#include "tests/experiments/models/model_support.hpp"

#include <string>
#include <vector>

using namespace heed;
using namespace heed::f32;

namespace {

const std::string copies = "[model]\nwidth = 8\nheads = 2\nlayers = 2\n[task]\nkind = \"copy\"\nvalidation = 6\n"
                           "[task.copy]\nlength = 4\nmin_length = 2\nsymbols = 5\n";

Config configured(const std::vector<std::string>& assignments, const std::string& more = "") {
  return test::config(copies + more, assignments);
}

/// Whether the logits at any position that counts change with the next token.
bool depends_on_targets(const Config& config, const Task& task) {
  TaskSizes sizes = task.sizes(TaskFormat::language_model);
  set_segment_ends(config, task, TaskFormat::language_model, sizes);
  Weights weights;
  const auto model = model_info(config.model.kind).make(weights.scope(), config, sizes);
  weights.fill(11, {-0.7, 0.9, 0});
  weights.parameters.initialise(3); // values of formula parameters; all others as initialised
  const auto logits = [&](const Batch& batch) {
    Tape tape;
    Pass pass = weights.pass(tape);
    return read(model->logits(pass, batch));
  };
  for (std::int64_t sequence = 0; sequence < task.evaluation_sequences(TaskFormat::language_model, Split::validation);
       ++sequence) {
    Batch batch;
    batch.reset(1, sizes, TaskFormat::language_model);
    task.evaluation_sequence(TaskFormat::language_model, Split::validation, sequence, batch, 0);
    const std::vector<Real> before = logits(batch);
    const auto classes = static_cast<std::ptrdiff_t>(sizes.classes);
    for (std::int32_t i = 0; i + 1 < batch.lengths[0]; ++i) {
      if (batch.targets[static_cast<std::size_t>(i)] == ignored) continue;
      Batch other = batch;
      std::int32_t& next = other.tokens[static_cast<std::size_t>(i) + 1];
      next = (next + 1) % static_cast<std::int32_t>(sizes.vocabulary);
      const std::vector<Real> after = logits(other);
      if (!std::equal(before.begin() + i * classes, before.begin() + (i + 1) * classes, after.begin() + i * classes))
        return true;
    }
  }
  return false;
}

} // namespace

TEST_CASE("a model is said to see its targets just where its outputs depend on them", "[model][leakage]") {
  struct Case {
    std::vector<std::string> assignments;
    std::string leakage; ///< the expected statement
    std::string more = "";
  };
  const std::string free = "attention.causal=false", no_cause = "attention.causal = false";
  const std::string with_formula = no_cause + " with its mask_mod";
  const std::vector<Case> cases = {
      {{}, ""},
      {{free}, no_cause},
      {{free, "model.layers=1"}, no_cause},
      {{free, "attention.window=1"}, no_cause},
      {{free, "attention.dilation=2"}, ""}, // every second position, on both sides
      {{"attention.window=2", "attention.prefix=2"}, ""},
      {{"attention.prefix=9"}, "attention.prefix = 9"},
      {{free, "attention.mask_mod=j <= i"}, ""},
      {{free, "attention.mask_mod=j <= i + 1"}, with_formula},
      {{free, "attention.mask_mod=j <= i or h == 1"}, with_formula},
      {{free, "attention.mask_mod=j != i + 1", "model.layers=1"}, ""},
      {{free, "attention.mask_mod=j != i + 1"}, with_formula}, // allowed by a position after it
      {{free, "attention.mask_mod=j <= i + ahead", "attention.parameters.ahead.start=0",
        "attention.parameters.ahead.learned=false"},
       ""},
      {{free, "attention.mask_mod=j <= i + ahead", "attention.parameters.ahead.start=1",
        "attention.parameters.ahead.learned=false"},
       with_formula},
      // The input of a sequence is its segment 0, which ends with "|".
      {{free, "model.segment_end=|", "attention.mask_mod=j <= i or segment_j == 0"}, ""},
      {{free, "model.segment_end=|", "attention.mask_mod=segment_i == segment_j"}, with_formula},
      {{free, "attention.mask_mod=j <= i or layer == 0"}, with_formula + " in block 0"},
      {{free, "attention.mask_mod=j <= i or layer == 2"}, ""},
      {{}, no_cause + " in block 1", "[[block.override]]\nlayers = [1]\nattention.causal = false\n"},
      {{"model.kind=encoder_decoder"}, ""},
  };
  for (const Case& c : cases) {
    INFO(listed(c.assignments) << c.more);
    const Config config = configured(c.assignments, c.more);
    const auto task = make_task(config);
    CHECK(target_leakage(config, *task) == c.leakage);
    if (config.model.kind == "decoder") CHECK(depends_on_targets(config, *task) == !c.leakage.empty());
  }
}

TEST_CASE("nothing is said of a model that is not trained", "[model][leakage]") {
  const Config config = configured({"attention.causal=false", "train.steps=0"});
  CHECK(target_leakage(config, *make_task(config)) == "");
}
