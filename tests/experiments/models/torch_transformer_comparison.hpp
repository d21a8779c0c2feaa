// Compares encoder-decoders to torch.nn.Transformer (tests/fixtures/transformer.json). The file that includes this
// header sets the precision.
#pragma once

#include "tests/experiments/models/model_support.hpp"
#include "tests/fixtures/fixture.hpp"

namespace heed::HEED_REAL {

/// The PyTorch tensor that holds one of our parameters, and its rows [begin, end) there (all rows if end is 0).
struct TorchPlace {
  std::string ours, theirs;
  std::int64_t begin = 0, end = 0;

  FixtureTensor in(const Fixture& fixture, const std::string& prefix = "") const {
    const FixtureTensor& whole = fixture[prefix + theirs];
    return end ? whole.rows(begin, end) : whole;
  }
};

inline std::vector<TorchPlace> torch_places(bool pre_norm) {
  std::vector<TorchPlace> out = {{"encoder.embedding.weight", "source.weight"},
                                 {"encoder.position.weight", "source_position.weight"},
                                 {"decoder.embedding.weight", "target.weight"},
                                 {"decoder.position.weight", "target_position.weight"}};
  for (const std::string kind : {".weight", ".bias"}) {
    for (const std::string stack : {"encoder", "decoder"}) {
      const bool decodes = stack == "decoder";
      const std::string torch = "transformer." + stack + ".";
      if (pre_norm) out.push_back({stack + ".final_norm" + kind, torch + "norm" + kind});
      for (const std::string i : {"0", "1"}) {
        const std::string block = stack + ".blocks." + i + ".", layer = torch + "layers." + i + ".";
        const std::string in = kind == ".weight" ? "in_proj_weight" : "in_proj_bias";
        out.push_back({block + "attention.qkv" + kind, layer + "self_attn." + in});
        out.push_back({block + "attention.output" + kind, layer + "self_attn.out_proj" + kind});
        out.push_back({block + "attention_norm" + kind, layer + "norm1" + kind});
        out.push_back({block + "ffn.expand" + kind, layer + "linear1" + kind});
        out.push_back({block + "ffn.project" + kind, layer + "linear2" + kind});
        out.push_back({block + "ffn_norm" + kind, layer + (decodes ? "norm3" : "norm2") + kind});
        if (!decodes) continue;
        std::int64_t row = 0;
        for (const std::string part : {"query", "key", "value"}) {
          out.push_back({block + "cross_attention." + part + kind, layer + "multihead_attn." + in, row, row + 8});
          row += 8;
        }
        out.push_back({block + "cross_attention.output" + kind, layer + "multihead_attn.out_proj" + kind});
        out.push_back({block + "cross_attention_norm" + kind, layer + "norm2" + kind});
      }
    }
  }
  return out;
}

/// Copies the fixture's weights into the model and compares logits, loss and all gradients.
inline void compare_with_torch_transformer(const std::string& name) {
  const Fixture fixture("transformer", name);
  const bool pre_norm = name.starts_with("pre");
  const Config config = test::config(
      "[model]\nkind = \"encoder_decoder\"\nlayers = 2\nwidth = 8\nheads = 2\n[position]\nkind = \"learned\"\n"
      "[block]\nffn_width = 12\n",
      {pre_norm ? "block.norm=pre" : "block.norm=post", pre_norm ? "block.activation=gelu" : "block.activation=relu"});
  TaskSizes sizes{.vocabulary = 7, .length = 5, .classes = 6, .output_length = 5};
  Weights weights;
  const auto model = model_info("encoder_decoder").make(weights.scope(), config, sizes);
  const std::vector<TorchPlace> places = torch_places(pre_norm);
  REQUIRE(weights.parameters.entries().size() == places.size());
  weights.fill(1);
  for (const TorchPlace& place : places) {
    INFO(place.ours);
    REQUIRE(weights.parameters.find(place.ours));
    REQUIRE(weights.parameters.find(place.ours)->shape == place.in(fixture).shape);
    weights.set(place.ours, place.in(fixture).as<Real>());
  }
  sizes.output_length = 4;
  Batch batch;
  batch.reset(3, sizes, TaskFormat::sequence_to_sequence);
  batch.tokens = fixture["tokens"].as<std::int32_t>();
  batch.lengths = fixture["lengths"].as<std::int32_t>();
  batch.outputs = fixture["outputs"].as<std::int32_t>();
  batch.output_lengths = fixture["output_lengths"].as<std::int32_t>();
  batch.targets = fixture["targets"].as<std::int32_t>();
  Tape tape;
  Pass pass = weights.pass(tape, {.training = true});
  const Tensor logits = model->logits(pass, batch);
  CHECK(distance(read(logits), fixture["logits"].values) < agreement);
  const Tensor loss = cross_entropy(logits, batch.targets.data(), {.ignore = ignored});
  CHECK(distance(read(loss), fixture["loss"].values) < agreement);
  tape.backward(loss);
  pass.finish_gradients();
  for (const TorchPlace& place : places) {
    INFO(place.ours);
    CHECK(distance(weights.gradient(place.ours), place.in(fixture, "d.").values) < agreement);
  }
}

} // namespace heed::HEED_REAL
