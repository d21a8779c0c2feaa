// Tests of positional schemes by block and by stack, against models that are assembled by hand.
#include "experiments/models/transformer.hpp"
#include "layers/linear.hpp"
#include "tests/experiments/models/model_support.hpp"

#include <memory>
#include <string>
#include <vector>

using namespace heed;
using namespace heed::f32;

namespace {

std::vector<std::string> names_with(const Weights& weights, const std::string& part) {
  std::vector<std::string> out;
  for (const auto& entry : weights.parameters.entries())
    if (entry.name.find(part) != std::string::npos) out.push_back(entry.name);
  return out;
}

} // namespace

TEST_CASE("three blocks with rotary positions and a window, and every fourth without both", "[models][position]") {
  // arXiv 2501.18795
  TestModel m({"model.layers=8", "position.kind=rotary", "position.rotary.base=500", "attention.window=1"},
              "[[block.override]]\nlayers = [3, 7]\nposition.kind = \"none\"\nattention.window = 0\n"
              "[[block.override]]\nlayers = [5]\nposition.rotary.base = 30.0\n");
  const Batch batch = m.batch({4, 3, 4});

  Weights weights;
  const Scope scope = weights.scope();
  const Embedding embedding(scope / "embedding", 5, 4);
  std::vector<Block> blocks;
  for (int i = 0; i < 8; ++i) {
    LayerChoice choice;
    choice.block.ffn_width = 6;
    std::shared_ptr<const RelativePosition> position;
    if (i % 4 < 3) {
      choice.attention.window = 1;
      position = position_info("rotary").make_relative(scope / "unused", {2, 2, 2, 4},
                                                       {{"base", Value(i == 5 ? 30.0 : 500.0)}});
    }
    blocks.emplace_back(
        scope / "blocks" / std::to_string(i), choice,
        Block::Sizes{.width = 4, .heads = 2, .residual_init = Init::normal(1), .position = position, .longest = 4});
  }
  const auto norm = make_norm(scope / "final_norm", "layer", {4, true}, {});
  weights.fill(11, {-0.7, 0.9, 0});
  REQUIRE(weights.parameters.count() == m.weights.parameters.count());
  Tape tape;
  Pass pass = weights.pass(tape);
  Tensor x = embedding(pass, batch.tokens.data(), {batch.sequences, batch.length});
  for (const Block& block : blocks) x = block(pass, x, Mask{.lengths = batch.lengths.data()});
  const std::vector<Real> expected = read(linear((*norm)(pass, x), pass(embedding.weight)));
  CHECK(distance(m.logits(batch), expected) < 1e-5);
}

TEST_CASE("T5's encoder has buckets for both sides, and its decoder for earlier keys", "[models][position]") {
  TestModel m({"model.kind=encoder_decoder", "model.layers=3", "position.kind=t5", "position.shared=true"},
              "[[block.override]]\nstack = \"encoder\"\nposition.t5.both_sides = true\n");
  CHECK(names_with(m.weights, "position") ==
        std::vector<std::string>{"encoder.position.bias", "decoder.position.bias"});
  const Batch batch = m.batch({4, 2, 3});

  // The same of two models that have no overrides.
  const auto of = [](const std::string& more) {
    Config c =
        test::config("[model]\nkind = \"encoder_decoder\"\nlayers = 3\nwidth = 4\nheads = 2\n[block]\nffn_width = "
                     "6\n[position]\nkind = \"t5\"\nshared = true\n" +
                     more);
    for (LayerChoice& layer : c.layers) layer.attention.causal = more.empty();
    return c;
  };
  const Config of_encoder = of("t5.both_sides = true\n"), of_decoder = of("");
  Weights weights;
  const Scope scope = weights.scope();
  const Transformer encoder(scope / "encoder", of_encoder, m.sizes);
  const Transformer decoder((scope / "decoder").reading_outputs(), of_decoder,
                            StackSizes{.vocabulary = 5, .longest = 4, .memory_width = 4, .longest_memory = 4});
  weights.fill(11, {-0.7, 0.9, 0});
  REQUIRE(weights.parameters.count() == m.weights.parameters.count());
  Tape tape;
  Pass pass = weights.pass(tape);
  const Memory memory{.vectors = encoder(pass, batch), .lengths = batch.lengths.data()};
  const Tensor x = decoder(pass,
                           TokenSequences{batch.outputs.data(), batch.sequences, batch.output_length,
                                          batch.output_lengths.data()},
                           memory);
  CHECK(distance(m.logits(batch), read(linear(x, pass(decoder.embedding.weight)))) < 1e-5);

  TestModel plain({"model.kind=encoder_decoder", "model.layers=3", "position.kind=t5", "position.shared=true"});
  CHECK(distance(m.logits(batch), plain.logits(batch)) > 1e-3);
}

TEST_CASE("blocks share positions with the blocks that have the same scheme and the same options",
          "[models][position]") {
  TestModel m({"model.layers=6", "position.kind=t5", "position.shared=true"}, R"(
[[block.override]]
layers = [1, 4]
position.t5.buckets = 8
[[block.override]]
layers = [2]
position.kind = "none"
[[block.override]]
layers = [3]
position.shared = false
)");
  CHECK(names_with(m.weights, "position") ==
        std::vector<std::string>{"position.bias", "position_2.bias", "blocks.3.position.bias"});
  CHECK(m.weights.parameters.find("position.bias")->shape == Shape{32, 2});
  CHECK(m.weights.parameters.find("position_2.bias")->shape == Shape{8, 2});
  // Blocks with another number of heads can't.
  CHECK_THROWS_WITH(TestModel({"position.kind=t5", "position.shared=true"},
                              "[[block.override]]\nlayers = [1]\nattention.differential = \"v2\"\n"),
                    Catch::Contains("2 of width 2") && Catch::Contains("4 of width 2") &&
                        Catch::Contains("attention.differential") && Catch::Contains("position.shared = false"));
}

TEST_CASE("the blocks of an encoder and of images have positions of their own, too", "[models][position]") {
  const std::string override = "[[block.override]]\nlayers = [1]\nposition.kind = \"shaw\"\n";
  TestModel encoder({"model.kind=encoder", "position.kind=rotary"}, override);
  CHECK(names_with(encoder.weights, "position") == std::vector<std::string>{"blocks.1.position.keys"});
  CHECK_FALSE(encoder.logits(encoder.batch({4, 2})).empty());
  // A scheme that needs causal attention is refused where a block isn't causal.
  CHECK_THROWS_WITH(TestModel({"model.kind=encoder", "position.kind=rotary"},
                              "[[block.override]]\nlayers = [1]\nposition.kind = \"skewed\"\n"),
                    Catch::Contains("attention.causal = true"));
  const Config images = test::config("[task]\nkind = \"shapes\"\n[model]\nkind = \"patches\"\n[position]\nkind = "
                                     "\"t5\"\n" +
                                     override);
  CHECK(images.layers[0].position.kind == "t5");
  CHECK(std::get<bool>(images.layers[0].position_options.at("both_sides")));
  CHECK(images.layers[1].position.kind == "shaw");
}
