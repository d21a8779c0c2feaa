// Tests of [[block.override]] of positions, and of the stacks of an encoder-decoder.
#include "experiments/config/catalogue.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace heed;
using namespace heed::test;

namespace {

void check_refusals(const std::vector<std::pair<std::string, std::string>>& cases) {
  for (const auto& [toml, message] : cases) {
    INFO(toml);
    CHECK(refusal_of(toml) == message);
  }
}

} // namespace

TEST_CASE("[[block.override]] of positions is refused where they belong to the whole model", "[config]") {
  const std::string names = list_in_words(positions_of_blocks());
  CHECK(names == "'none', 'rotary', 'alibi', 'kerple', 't5', 'shaw', 'skewed', 'path'");
  check_refusals({
      {"[[block.override]]\nlayers = [0]\nposition.kind = \"rotary\"",
       "x.toml:3:10: position.kind does nothing: position.kind is 'sinusoidal' (built-in), which adds to the token "
       "embeddings and so belongs to the whole model; blocks can differ where position.kind is one of " +
           names},
      {"[position]\nkind = \"none\"\n[[block.override]]\nlayers = [0]\nposition.kind = \"learned\"",
       "x.toml:5:10: position.kind is 'learned', which adds to the token embeddings and so belongs to the whole model: "
       "set it in [position]. A block can have one of " +
           names},
      {"[position]\nkind = \"none\"\n[[block.override]]\nlayers = [0]\nposition.combine = \"concat\"",
       "x.toml:5:10: [[block.override]] can't set position.combine: it is about the token embeddings, which belong to "
       "the whole model; set it in [position]"},
      // Options of a scheme that no block has, or that a block doesn't have.
      {"[position]\nkind = \"rotary\"\nrotary.base = 500\n[[block.override]]\nlayers = [0, 1]\nposition.kind = "
       "\"none\"",
       "x.toml:2:1: position.kind does nothing: every block has its own in [[block.override]]\n"
       "x.toml:3:8: position.rotary.base does nothing: position.kind is 'none' (x.toml:6:10); it matters only where "
       "position.kind is 'rotary'"},
      {"[position]\nkind = \"rotary\"\n[[block.override]]\nlayers = [1]\nposition.kind = \"none\"\nposition.shared = "
       "true",
       "x.toml:6:10: position.shared does nothing: position.kind is 'none' (x.toml:5:10); it matters only where "
       "position.kind is one of 'kerple', 't5', 'shaw', 'skewed'"},
      {"[position]\nkind = \"t5\"\n[init]\nposition = 0.5\n[[block.override]]\nlayers = [1]\nposition.kind = "
       "\"none\"",
       "x.toml:4:1: init.position does nothing: position.kind is 't5' (x.toml:2:1); it matters only where "
       "position.kind "
       "is one of 'learned', 'shaw', 'skewed'"},
  });
  // In one block, the vectors of shaw's distances begin with these values.
  CHECK(config("[position]\nkind = \"t5\"\n[init]\nposition = 0.5\n[[block.override]]\nlayers = [1]\nposition.kind = "
               "\"shaw\"")
            .init.position.number == 0.5);
}

TEST_CASE("an arm with a scheme of the whole model drops what blocks choose", "[config]") {
  const Settings settings = Settings::parse("[position]\nkind = \"rotary\"\n[[block.override]]\nlayers = "
                                            "[1]\nposition.kind = \"none\"",
                                            "x.toml");
  const Settings arm = settings.with({{"position.kind", Value(std::string("learned")), {"sweep", 0, 0, 9}}});
  CHECK(difference(arm.resolve(), config("[position]\nkind = \"learned\"")).empty());
  REQUIRE(arm.dropped().size() == 1);
  CHECK_THAT(arm.dropped()[0], Catch::StartsWith("position.kind = \"none\" (x.toml:5:10) is dropped: position.kind is "
                                                 "'learned' (sweep), which adds to the token embeddings"));
}

TEST_CASE("every, from and to mean blocks as a list of them does", "[config]") {
  const auto overridden = [](const std::string& which, const std::string& what) {
    return config("[model]\nlayers = 9\n" + what + "[[block.override]]\n" + which + "\ndropout = 0.5");
  };
  for (const auto& [range, list] :
       std::vector<std::pair<std::string, std::string>>{{"every = 4", "3, 7"},
                                                        {"every = 1", "0, 1, 2, 3, 4, 5, 6, 7, 8"},
                                                        {"from = 7", "7, 8"},
                                                        {"to = 1", "0, 1"},
                                                        {"every = 3\nfrom = 2", "4, 7"},
                                                        {"every = 2\nfrom = 1\nto = 6", "2, 4, 6"}}) {
    INFO(range);
    CHECK(difference(overridden(range, ""), overridden("layers = [" + list + "]", "")).empty());
  }
}

TEST_CASE("what a mixer presets for positions counts if all blocks have it, and not in an override", "[config]") {
  const auto kinds = [](const std::string& toml) {
    std::vector<std::string> out;
    for (const LayerChoice& layer : config("[model]\nlayers = 4\n" + toml).layers)
      out.push_back(layer.mixer.kind + " " + layer.position.kind);
    return out;
  };
  const std::string gla = "[mixer]\nkind = \"gla\"\n",
                    attention = "[[block.override]]\nevery = 4\nmixer.kind = \"attention\"\n";
  CHECK(kinds(gla) == std::vector<std::string>(4, "gla none"));
  CHECK(kinds(gla + attention) == std::vector<std::string>{"gla none", "gla none", "gla none", "attention none"});
  CHECK(kinds(gla + attention + "position.kind = \"rotary\"\n").back() == "attention rotary");
  CHECK(kinds("[[block.override]]\nlayers = [0]\nmixer.kind = \"gla\"\n") ==
        std::vector<std::string>{"gla sinusoidal", "attention sinusoidal", "attention sinusoidal",
                                 "attention sinusoidal"});
  CHECK(kinds(gla + "[position]\nkind = \"learned\"\n") == std::vector<std::string>(4, "gla learned"));
  check_refusals({
      {"[mixer]\nkind = \"gla\"\n[position]\nkind = \"rotary\"",
       "x.toml:4:1: position.kind is 'rotary' (x.toml:4:1), which acts within attention, and no block has attention "
       "(mixer.kind is 'gla' (x.toml:2:1)): choose position.kind = \"none\", or mixer.position = \"rotary\" for "
       "queries "
       "and keys of a recurrence"},
      {"[mixer]\nkind = \"gla\"\n[attention]\nwindow = 4",
       "x.toml:4:1: attention.window does nothing: mixer.kind is 'gla' (x.toml:2:1); it matters only where mixer.kind "
       "is 'attention'"},
      {"[mixer]\ngate = \"silu\"",
       "x.toml:2:1: mixer.gate does nothing: mixer.kind is 'attention' (built-in); it matters only where mixer.kind is "
       "not 'attention'"},
      {"[mixer]\nkind = \"gla\"\n[model]\nkind = \"encoder\"",
       "x.toml:2:1: mixer.kind is 'gla' (x.toml:2:1), and model.kind is 'encoder' (x.toml:4:1): a recurrence reads "
       "tokens in their order, and there is none in blocks with cross attention: choose model.kind = \"decoder\", or "
       "mixer.kind = \"attention\""},
      {"[mixer]\nkind = \"retention\"\nconstant.rates = \"lightning\"\ndecay = \"none\"",
       "x.toml:3:10: mixer.constant.rates does nothing: mixer.decay is 'none' (x.toml:4:1); it matters only where "
       "mixer.decay is 'constant'"},
  });
}

TEST_CASE("[[block.override]] of a stack", "[config]") {
  const std::string two = "[model]\nkind = \"encoder_decoder\"\n";
  check_refusals({
      {"[[block.override]]\nstack = 1\nresidual = \"none\"",
       "x.toml:2:9: [[block.override]] stack is the integer 1; it must be 'encoder' or 'decoder'"},
      {"[[block.override]]\nstack = \"decodr\"\nlayers = [0]\nresidual = \"none\"",
       "x.toml:2:9: [[block.override]] stack is 'decodr'; it must be 'encoder' or 'decoder'"},
      {"[[block.override]]\nstack = \"encoder\"\nresidual = \"none\"",
       "x.toml:1:1: [[block.override]] names the encoder, but model.kind is 'decoder' (built-in), and that model has "
       "none"},
      {two + "[[block.override]]\nstack = \"encoder\"\nlayers = [1, 2]\nresidual = \"none\"",
       "x.toml:3:1: [[block.override]] names block 2 of the encoder, but model.layers is 2 (built-in): its blocks are "
       "0 "
       "to 1"},
      {two + "encoder_decoder.decoder_layers = 3\n[[block.override]]\nstack = \"decoder\"\nlayers = [3]\nresidual = "
             "\"none\"",
       "x.toml:4:1: [[block.override]] names block 3 of the decoder, but model.encoder_decoder.decoder_layers is 3 "
       "(x.toml:3:17): its blocks are 0 to 2"},
      {two + "[[block.override]]\nstack = \"encoder\"\nattention.cross_score = \"dot\"",
       "x.toml:5:11: attention.cross_score does nothing: only the decoder has cross attention"},
      {two + "shared_layers = true\n[[block.override]]\nstack = \"decoder\"\nlayers = [1]\nresidual = \"none\"",
       "x.toml:3:1: model.shared_layers is true, but [[block.override]] (x.toml:4:1) gives blocks options of their "
       "own; "
       "blocks that share their parameters must have the same options: leave one of the two out"},
  });
  CHECK(refusal_of(two + "shared_layers = true\n[[block.override]]\nstack = \"decoder\"\nresidual = \"none\"").empty());
  // Of a model with one stack, its name may be given.
  CHECK(difference(config("[[block.override]]\nstack = \"decoder\"\nlayers = [1]\ndropout = 0.5"),
                   config("[[block.override]]\nlayers = [1]\ndropout = 0.5"))
            .empty());
}

TEST_CASE("the blocks of two stacks take their options in the order of the file", "[config]") {
  const Config c = config(R"(
[model]
kind = "encoder_decoder"
encoder_decoder.decoder_layers = 3
[block]
dropout = 0.1
[[block.override]]
layers = [1]                 # block 1 of both, and so the decoder's further block
dropout = 0.2
[[block.override]]
stack = "decoder"
layers = [2]
dropout = 0.3
[[block.override]]
stack = "encoder"
ffn_dropout = 0.4
)");
  const auto values = [](const std::vector<LayerChoice>& stack) {
    std::vector<std::pair<double, double>> out;
    for (const LayerChoice& l : stack) out.emplace_back(l.block.dropout, l.block.ffn_dropout);
    return out;
  };
  CHECK(values(c.layers) == std::vector<std::pair<double, double>>{{0.1, 0.4}, {0.2, 0.4}});
  CHECK(values(c.decoder_layers) == std::vector<std::pair<double, double>>{{0.1, 0}, {0.2, 0}, {0.3, 0}});
  std::vector<std::string> lines;
  for (const FlatOption& line : flatten(c))
    if (line.key.starts_with("block[")) lines.push_back(line.key + " = " + line.value);
  CHECK(lines == std::vector<std::string>{"block[1].dropout = 0.2", "block[decoder.0].ffn_dropout = 0.0",
                                          "block[decoder.1].ffn_dropout = 0.0", "block[decoder.2].dropout = 0.3",
                                          "block[decoder.2].ffn_dropout = 0.0"});
}
