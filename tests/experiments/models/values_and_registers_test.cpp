// Tests of models whose blocks add the values of the first one, and of models with registers or persistent keys.
#include "experiments/config/config.hpp"
#include "tests/experiments/models/model_support.hpp"
#include "tests/layers/kept_weights.hpp"

using namespace heed;
using namespace heed::HEED_REAL;

namespace {

// Gives `to` the values of the parameters that both models have.
void copy_common(const TestModel& from, TestModel& to) {
  for (const auto& entry : to.weights.parameters.entries())
    if (const auto* same = from.weights.parameters.find(entry.name)) {
      const Real* values = from.weights.parameters.values() + same->offset;
      to.weights.set(entry.name, {values, values + same->shape.size()});
    }
}

std::vector<std::string> with_these(std::vector<std::string> assignments, const std::vector<std::string>& more) {
  assignments.insert(assignments.end(), more.begin(), more.end());
  return assignments;
}

const std::vector<std::string> transformers = {"decoder", "encoder", "encoder_decoder"};

} // namespace

TEST_CASE("fixed and sparse value residuals are learned ones with these factors", "[model]") {
  for (const std::string& kind : transformers)
    for (const std::string word : {"fixed", "sparse"}) {
      INFO(kind << ", " << word);
      const std::vector<std::string> four = {"model.kind=" + kind, "model.layers=4"};
      TestModel learned(with_these(four, {"attention.value_residual=learned"})),
          same(with_these(four, {"attention.value_residual=" + word})), none(four);
      copy_common(learned, same);
      copy_common(learned, none);
      int blocks = 0;
      for (const auto& entry : learned.weights.parameters.entries()) {
        if (!entry.name.ends_with(".attention.value_residual")) continue;
        ++blocks;
        CHECK(entry.name.find("cross") == std::string::npos);
        const bool is_last_third = entry.name.find("blocks.2.") != std::string::npos ||
                                   entry.name.find("blocks.3.") != std::string::npos;
        if (word == "fixed") learned.weights.set(entry.name, {Real(0.5), Real(0.5)});
        else learned.weights.set(entry.name, {Real(is_last_third ? 5 : 0), 1});
      }
      CHECK(blocks == (kind == "encoder_decoder" ? 6 : 3));
      const Batch batch = learned.batch({4, 2, 3});
      CHECK(distance(same.logits(batch), learned.logits(batch)) < 1e-4);
      CHECK(distance(same.logits(batch), none.logits(batch)) > 1e-3);
    }
}

TEST_CASE("learned factors of value residuals start at one half, and shared blocks share them", "[model]") {
  TestModel apart({"model.layers=3", "attention.value_residual=learned"}),
      shared({"model.layers=3", "attention.value_residual=learned", "model.shared_layers=true"});
  for (TestModel* m : {&apart, &shared}) m->weights.parameters.initialise(1);
  const auto names = [](const TestModel& m) {
    std::vector<std::string> out;
    for (const auto& entry : m.weights.parameters.entries())
      if (entry.name.ends_with("value_residual")) {
        out.push_back(entry.name);
        for (int i = 0; i < 2; ++i) CHECK(m.weights.parameters.values()[entry.offset + i] == Real(0.5));
      }
    return out;
  };
  CHECK(names(apart) ==
        std::vector<std::string>{"blocks.1.attention.value_residual", "blocks.2.attention.value_residual"});
  CHECK(names(shared) == std::vector<std::string>{"blocks.0.attention.value_residual"});
}

TEST_CASE("a tape that does not record gives the logits of one that does, with value residuals and registers",
          "[model]") {
  for (const std::string& kind : transformers)
    for (const std::string& word : find_option("attention.value_residual")->words)
      for (const std::string& maps : find_option("attention.differential")->words) {
        INFO(kind << ", " << word << ", maps " << maps);
        TestModel m({"model.kind=" + kind, "model.layers=3", "attention.value_residual=" + word, "model.registers=2",
                     "attention.persistent_keys=1", "attention.differential=" + maps});
        const Batch batch = m.batch({4, 2, 3});
        Tape tape;
        tape.record(false);
        Pass pass = m.weights.pass(tape);
        CHECK(read(m.model->logits(pass, batch)) == m.logits(batch));
      }
}

TEST_CASE("value residuals are refused where they have no effect, or where blocks differ in their values", "[model]") {
  using Catch::Contains;
  CHECK_THROWS_WITH(TestModel({"model.layers=1", "attention.value_residual=fixed"}),
                    Contains("attention.value_residual") && Contains("model.layers"));
  const auto make = [](const std::string& overrides, const std::vector<std::string>& assignments = {}) {
    const Config config = test::config("[model]\nlayers = 3\nwidth = 4\nheads = 2\n" + overrides, assignments);
    Weights weights;
    model_info(config.model.kind).make(weights.scope(), config, TestModel::sizes_for(TaskFormat::language_model));
    return weights.parameters.find("blocks.2.attention.value_residual") != nullptr;
  };
  CHECK_THROWS_WITH(make("[[block.override]]\nlayers = [0]\nattention.value_residual = \"fixed\"\n"),
                    Contains("value_residual = \"fixed\" has no effect"));
  CHECK_THROWS_WITH(make("[[block.override]]\nlayers = [1]\nattention.value_residual = \"sparse\"\n"),
                    Contains("value_residual = \"sparse\" has no effect"));
  // Other blocks use another word.
  CHECK_THROWS_WITH(make("[[block.override]]\nlayers = [0]\nattention.value_residual = \"fixed\"\n",
                         {"attention.value_residual=learned"}),
                    Contains("value_residual = \"fixed\" has no effect"));
  CHECK_THROWS_WITH(make("[[block.override]]\nlayers = [1]\nattention.value_residual = \"sparse\"\n",
                         {"attention.value_residual=learned"}),
                    Contains("value_residual = \"sparse\" has no effect"));
  // One stack of an encoder-decoder may have a single block, in which there is nothing to add.
  for (const std::string layers : {"model.layers=1", "model.encoder_decoder.decoder_layers=1"}) {
    const bool in_decoder = layers == "model.layers=1";
    std::vector<std::string> assignments = {"model.kind=encoder_decoder", "attention.value_residual=learned", layers};
    if (in_decoder) assignments.push_back("model.encoder_decoder.decoder_layers=2");
    TestModel m(assignments);
    const auto has = [&](const std::string& stack) {
      return m.weights.parameters.find(stack + ".blocks.1.attention.value_residual") != nullptr;
    };
    CHECK(has("decoder") == in_decoder);
    CHECK(has("encoder") != in_decoder);
  }
  CHECK_THROWS_WITH(TestModel({"model.kind=encoder_decoder", "attention.value_residual=learned", "model.layers=1",
                               "model.encoder_decoder.decoder_layers=1"}),
                    Contains("value_residual = \"learned\" has no effect"));
  const std::string wider = "[[block.override]]\nlayers = [2]\nattention.value_width = 3\n";
  CHECK_THROWS_WITH(make(wider, {"attention.value_residual=learned"}), Contains("block 0") && Contains("block 2") &&
                                                                           Contains("2 heads of width 2") &&
                                                                           Contains("2 of width 3"));
  CHECK_THROWS_WITH(make("[[block.override]]\nlayers = [2]\nattention.key_value_heads = 1\n",
                         {"attention.value_residual=learned"}),
                    Contains("block 2") && Contains("1 of width 2"));
  // A width that is stated equals the same width by default, and a block without a residual may differ.
  CHECK(make("[[block.override]]\nlayers = [2]\nattention.value_width = 2\n", {"attention.value_residual=learned"}));
  CHECK_FALSE(make("[[block.override]]\nlayers = [2]\nattention.value_width = 3\nattention.value_residual = \"none\"\n",
                   {"attention.value_residual=learned"}));
  CHECK(make("[[block.override]]\nlayers = [2]\nattention.value_residual = \"learned\"\n"));
}

TEST_CASE("registers leave the positions and the number of tokens, and are dropped after the last block", "[model]") {
  for (const std::string& kind : transformers)
    for (const std::string position : {"sinusoidal", "learned", "rotary", "t5"}) {
      INFO(kind << ", " << position);
      const std::vector<std::string> base = {"model.kind=" + kind, "position.kind=" + position};
      TestModel plain(base), more(with_these(base, {"model.registers=3"}));
      copy_common(plain, more);
      const Batch batch = plain.batch({4, 2, 3});
      CHECK(distance(more.logits(batch), plain.logits(batch)) > 1e-3);
      // Without an effect of attention, registers have none, and nothing else differs.
      for (TestModel* m : {&plain, &more})
        for (const auto& entry : m->weights.parameters.entries())
          if (entry.name.find(".attention.output.") != std::string::npos)
            m->weights.set(entry.name, std::vector<Real>(static_cast<std::size_t>(entry.shape.size()), 0));
      CHECK(distance(more.logits(batch), plain.logits(batch)) < 1e-5);
    }
  TestModel m({"model.registers=3", "model.embedding_norm=true"});
  const auto* registers = m.weights.parameters.find("registers");
  REQUIRE(registers);
  CHECK(registers->shape == Shape{3, 4});
  TestModel both({"model.kind=encoder_decoder", "model.registers=3"});
  CHECK(both.weights.parameters.find("encoder.registers"));
  CHECK(both.weights.parameters.find("decoder.registers"));
}

TEST_CASE("cross attention has no persistent keys, and observers see no registers", "[model]") {
  TestModel m({"model.kind=encoder_decoder", "model.registers=3", "attention.persistent_keys=2"});
  CHECK(m.weights.parameters.find("decoder.blocks.0.attention.persistent_keys"));
  CHECK_FALSE(m.weights.parameters.find("decoder.blocks.0.cross_attention.persistent_keys"));
  KeptWeights told;
  Tape tape;
  Pass pass = m.weights.pass(tape, {.observer = &told});
  m.model->logits(pass, m.batch({4, 2}));
  REQUIRE(told.kept.size() == 6);
  for (const Tensor& w : told.kept) CHECK(w.shape == Shape{2, 2, 4, 4});
}
