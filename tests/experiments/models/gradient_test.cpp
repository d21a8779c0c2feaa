// Compares gradients of whole models with finite differences.
#define HEED_REAL f64 // finite differences need double precision
#include "experiments/config/config.hpp"
#include "layers/attention/normalizer.hpp"
#include "tests/experiments/models/model_support.hpp"
#include "tests/layers/module_check.hpp"

using namespace heed;
using namespace heed::f64;

namespace {

// Options whose gradient is by definition not the derivative of the output. Finite differences cannot check it;
// tests/layers/gradient_test.cpp does.
bool has_no_differences(const LayerChoice& choice) {
  const NormalizerInfo& normalizer = normalizer_info(choice.attention.normalizer);
  return normalizer.gradient_of && normalizer.gradient_of(choice.normalizer_options);
}

void check_model(const std::vector<std::string>& assignments) {
  INFO(listed(assignments));
  if (refused(assignments)) return;
  TestModel m(assignments);
  const LayerChoice& choice = m.config.layers[0];
  if (has_no_differences(choice) || has_no_differences(choice.for_cross_attention())) return;
  const Batch batch = m.batch({4, 2});
  check_module(m.weights, {}, [&](Pass& pass, const std::vector<Tensor>&) {
    return cross_entropy(m.model->logits(pass, batch), batch.targets.data(), {.label_smoothing = 0.1});
  });
}

} // namespace

TEST_CASE("decoders have the right gradient, over a spread of configurations", "[gradient][model]") {
  for (const auto& assignments : spread_of("decoder")) check_model(assignments);
  for (const std::string tied : {"true", "false"})
    check_model({"model.tied_embeddings=" + tied, "model.embedding_scale=sqrt", "position.kind=learned"});
  check_model({"attention.causal=false"});
}

TEST_CASE(
    "models whose blocks add the first one's values, or with persistent keys or registers, have the right gradient",
    "[gradient][model]") {
  for (const std::string kind : {"decoder", "encoder", "encoder_decoder"}) {
    const std::string model = "model.kind=" + kind;
    for (const std::string& word : find_option("attention.value_residual")->words)
      for (const std::string shared : {"false", "true"})
        check_model({model, "attention.value_residual=" + word, "model.layers=3", "model.shared_layers=" + shared});
    for (const std::string more : {"attention.window=1", "position.kind=rotary", "position.kind=shaw",
                                   "attention.normalizer=sigmoid", "attention.key_value_heads=1"}) {
      check_model({model, "attention.persistent_keys=2", more});
      if (kind == "decoder" || more != "attention.window=1")
        check_model({model, "model.registers=2", "model.embedding_norm=true", "attention.persistent_keys=1", more});
    }
  }
}

TEST_CASE("encoders have the right gradient, over a spread of configurations", "[gradient][model]") {
  for (const auto& assignments : spread_of("encoder")) check_model(assignments);
  for (const std::string& pooling : find_option("model.encoder.pooling")->words)
    for (const std::string norm : {"pre", "post", "none"})
      check_model({"model.kind=encoder", "model.encoder.pooling=" + pooling, "block.norm=" + norm});
  check_model({"model.kind=encoder", "attention.causal=true"});
}

TEST_CASE("encoder-decoders have the right gradient, over a spread of configurations", "[gradient][model]") {
  for (const auto& assignments : spread_of("encoder_decoder")) check_model(assignments);
  const std::string kind = "model.kind=encoder_decoder";
  for (const std::string tied : {"true", "false"})
    for (const std::string shared : {"true", "false"})
      check_model({kind, "model.tied_embeddings=" + tied, "model.encoder_decoder.shared_embeddings=" + shared});
  for (const std::string layers : {"1", "3"}) check_model({kind, "model.encoder_decoder.decoder_layers=" + layers});
  for (const std::string key : {"attention.cross_score", "attention.cross_normalizer"})
    for (const std::string& word : find_option(key)->words) check_model({kind, key + "=" + word});
}

TEST_CASE("a model whose blocks differ has the right gradient", "[gradient][model]") {
  TestModel m({});
  const Config mixed = test::config(R"(
[model]
layers = 3
width = 4
heads = 2
[block]
ffn_width = 5
[[block.override]]
layers = [1]
residual = "ffn"
norm = "post"
attention.score = "additive"
attention.additive.hidden = 3
[[block.override]]
layers = [2]
norm = "none"
activation = "swiglu"
attention.score = "cosine"
)");
  Weights weights;
  const auto model = model_info("decoder").make(weights.scope(), mixed, m.sizes);
  weights.fill(12, {-0.7, 0.9, 0});
  CHECK(weights.parameters.find("blocks.1.attention.score.v")->shape == Shape{2, 3});
  CHECK_FALSE(weights.parameters.find("blocks.0.attention.score.v"));
  CHECK(weights.parameters.find("blocks.1.ffn_norm.weight"));
  CHECK_FALSE(weights.parameters.find("blocks.2.ffn_norm.weight"));
  const Batch batch = m.batch({4, 3});
  check_module(weights, {}, [&](Pass& pass, const std::vector<Tensor>&) {
    return cross_entropy(model->logits(pass, batch), batch.targets.data());
  });
}
