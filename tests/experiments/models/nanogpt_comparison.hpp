// Compares a decoder with nanoGPT's architecture to nanoGPT in PyTorch (tests/fixtures/nanogpt.json). The file that
// includes this header sets the precision.
#pragma once

#include "tests/experiments/models/model_support.hpp"
#include "tests/fixtures/fixture.hpp"

namespace heed::HEED_REAL {

/// Copies the fixture's weights into the model and compares logits, loss and all gradients.
inline void compare_with_nanogpt() {
  const Fixture fixture("nanogpt", "decoder");
  const Config config = test::config(R"(
[model]
layers = 2
width = 8
heads = 2
[block]
bias = false
[position]
kind = "learned"
)");
  Weights weights;
  const auto model = model_info("decoder").make(weights.scope(), config, {11, 6, 11});
  std::vector<std::pair<std::string, std::string>> names = {{"embedding.weight", "transformer.wte.weight"},
                                                            {"position.weight", "transformer.wpe.weight"},
                                                            {"final_norm.weight", "transformer.ln_f.weight"}};
  for (const std::string i : {"0", "1"})
    for (const auto& [ours, theirs] : {std::pair{"attention_norm", "ln_1"},
                                       {"attention.qkv", "attn.c_attn"},
                                       {"attention.output", "attn.c_proj"},
                                       {"ffn_norm", "ln_2"},
                                       {"ffn.expand", "mlp.c_fc"},
                                       {"ffn.project", "mlp.c_proj"}})
      names.emplace_back("blocks." + i + "." + ours + ".weight", "transformer.h." + i + "." + theirs + ".weight");
  REQUIRE(weights.parameters.entries().size() == names.size());
  weights.fill(1);
  for (const auto& [ours, theirs] : names) {
    INFO(ours);
    REQUIRE(weights.parameters.find(ours)->shape == fixture[theirs].shape);
    weights.set(ours, fixture[theirs].as<Real>());
  }
  Batch batch;
  batch.reset(3, 6, TaskFormat::language_model);
  batch.tokens = fixture["tokens"].as<std::int32_t>();
  batch.targets = fixture["targets"].as<std::int32_t>();
  batch.lengths = {6, 6, 6};
  Tape tape;
  Pass pass = weights.pass(tape, {.training = true});
  const Tensor logits = model->logits(pass, batch);
  CHECK(distance(read(logits), fixture["logits"].values) < agreement);
  const Tensor loss = cross_entropy(logits, batch.targets.data());
  CHECK(distance(read(loss), fixture["loss"].values) < agreement);
  tape.backward(loss);
  pass.finish_gradients();
  for (const auto& [ours, theirs] : names) {
    INFO(ours);
    CHECK(distance(weights.gradient(ours), fixture["d." + theirs].values) < agreement);
  }
}

} // namespace heed::HEED_REAL
