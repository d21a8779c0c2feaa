// Compares an encoder with formulas, pooled by a learned query, to PyTorch (tests/fixtures/classifier.json).
#define HEED_REAL f64
#include "tests/experiments/models/model_support.hpp"
#include "tests/fixtures/fixture.hpp"

using namespace heed;
using namespace heed::f64;

TEST_CASE("an encoder with formulas and a pooling context equals PyTorch's, with all gradients", "[torch][model]") {
  const Fixture fixture("classifier", "formulas");
  const Config config = test::config(
      "[model]\nkind = \"encoder\"\nlayers = 1\nwidth = 8\nheads = 2\nencoder.pooling = \"context\"\n"
      "[task]\nkind = \"parity\"\n[position]\nkind = \"learned\"\n[block]\nffn_width = 12\n"
      "[attention]\nscore_mod = \"s - slope * abs(i - j) + 0.3 * (b + 1) * j / queries - 0.2 * j * keys\"\n"
      "mask_mod = \"abs(i - j) < 3 or j == 0\"\nparameters.slope.per = \"head\"\n");
  const TaskSizes sizes{.vocabulary = 7, .length = 6, .classes = 3};
  Weights weights;
  const auto model = model_info("encoder").make(weights.scope(), config, sizes);
  std::vector<std::pair<std::string, std::string>> places = {{"pooling.query", "query"},
                                                             {"blocks.0.attention.formula.slope", "slope"},
                                                             {"embedding.weight", "embedding.weight"},
                                                             {"position.weight", "position.weight"}};
  for (const std::string kind : {".weight", ".bias"})
    for (const auto& [ours, theirs] :
         std::vector<std::pair<std::string, std::string>>{{"pooling.keys", "keys"},
                                                          {"final_norm", "norm"},
                                                          {"output", "output"},
                                                          {"blocks.0.attention.output", "block.self_attn.out_proj"},
                                                          {"blocks.0.attention_norm", "block.norm1"},
                                                          {"blocks.0.ffn.expand", "block.linear1"},
                                                          {"blocks.0.ffn.project", "block.linear2"},
                                                          {"blocks.0.ffn_norm", "block.norm2"}})
      places.emplace_back(ours + kind, theirs + kind);
  places.emplace_back("blocks.0.attention.qkv.weight", "block.self_attn.in_proj_weight");
  places.emplace_back("blocks.0.attention.qkv.bias", "block.self_attn.in_proj_bias");
  REQUIRE(weights.parameters.entries().size() == places.size());
  weights.fill(1);
  for (const auto& [ours, theirs] : places) {
    INFO(ours);
    REQUIRE(weights.parameters.find(ours));
    REQUIRE(weights.parameters.find(ours)->shape == fixture[theirs].shape);
    weights.set(ours, fixture[theirs].as<Real>());
  }
  Batch batch;
  batch.reset(3, sizes, TaskFormat::classification);
  batch.tokens = fixture["tokens"].as<std::int32_t>();
  batch.lengths = fixture["lengths"].as<std::int32_t>();
  batch.targets = fixture["targets"].as<std::int32_t>();
  Tape tape;
  Pass pass = weights.pass(tape, {.training = true});
  const Tensor logits = model->logits(pass, batch);
  CHECK(distance(read(logits), fixture["logits"].values) < agreement);
  const Tensor loss = cross_entropy(logits, batch.targets.data());
  tape.backward(loss);
  pass.finish_gradients();
  for (const auto& [ours, theirs] : places) {
    INFO(ours);
    CHECK(distance(weights.gradient(ours), fixture["d." + theirs].values) < agreement);
  }
}
