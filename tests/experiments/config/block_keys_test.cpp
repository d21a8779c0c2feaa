// Tests of options of single blocks by a key ("block[3].mixer.kind"), and of "block.override" in the arms of a sweep.
#include "experiments/config/block_keys.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace heed;
using namespace heed::test;

namespace {

const std::string four = "[model]\nlayers = 4\n[position]\nkind = \"none\"\n";
const std::string two_stacks = "[model]\nkind = \"encoder_decoder\"\nlayers = 2\n";

std::vector<std::string> mixers(const Config& config) {
  std::vector<std::string> out;
  for (const LayerChoice& layer : config.layers) out.push_back(layer.mixer.kind);
  return out;
}

Settings with(const std::string& toml, const std::vector<std::string>& assignments) {
  Settings out = Settings::parse(toml, "x.toml");
  out.override_with(assignments);
  return out;
}

std::string refused(const std::string& toml, const std::vector<std::string>& assignments) {
  return refusal([&] { with(toml, assignments).resolve(); });
}

/// The file with the changes of the only arm of its sweep.
Settings arm_of(const std::string& toml, const std::vector<std::string>& assignments = {}) {
  const Settings settings = with(toml, assignments);
  return settings.with(settings.sweep().blocks.at(0).sets.at(0).changes);
}

} // namespace

TEST_CASE("a key sets an option of one block, above [[block.override]] of files", "[config][block_keys]") {
  const std::string override = "[[block.override]]\nlayers = [0, 1]\nmixer.kind = \"gla\"\n";
  const Config set = config(four + override, {"block[1].mixer.kind=hgrn2", "block[3].dropout=0.5"});
  CHECK(mixers(set) == std::vector<std::string>{"gla", "hgrn2", "attention", "attention"});
  CHECK(set.layers[3].block.dropout == 0.5);
  CHECK(set.layers[2].block.dropout == 0.0);
  // The same as in a file, with the same text, which reads back.
  const Config written = config(four + override + "[[block.override]]\nlayers = [1]\nmixer.kind = \"hgrn2\"\n" +
                                "[[block.override]]\nlayers = [3]\ndropout = 0.5\n");
  CHECK(to_toml(set) == to_toml(written));
  CHECK(difference(set, Settings::parse_saved(to_toml(set), "saved").resolve()).empty());
  // A later value of the same key replaces an earlier one.
  Settings twice = with(four, {"block[1].mixer.kind=gla"});
  twice.override_with({"block[1].mixer.kind=retention"});
  CHECK(mixers(twice.resolve()) == std::vector<std::string>{"attention", "retention", "attention", "attention"});
  CHECK(twice.dropped().empty());
  // An option of the block's own variant, and a parameter of a formula.
  CHECK(config(four, {"block[0].attention.score=cosine", "block[0].attention.cosine.temperature=3"})
            .layers[0]
            .score_options.at("temperature") == Value(3.0));
  CHECK(config("[attention]\nscore_mod = \"s - a * abs(i - j)\"\nparameters.a.start = 0.5",
               {"block[0].attention.parameters.a.start=2"})
            .layers[0]
            .attention.parameters != config("[attention]\nscore_mod = \"s - a * abs(i - j)\"\n"
                                            "parameters.a.start = 0.5")
                                         .layers[0]
                                         .attention.parameters);
}

TEST_CASE("keys of the blocks of two stacks", "[config][block_keys]") {
  const auto norms = [](const Config& c) {
    std::string out;
    for (const auto* stack : {&c.layers, &c.decoder_layers})
      for (const LayerChoice& layer : *stack) out += layer.block.norm + " ";
    return out;
  };
  CHECK(norms(config(two_stacks + "[block]\nnorm = \"pre\"", {"block[1].norm=post"})) == "pre post pre post ");
  CHECK(norms(config(two_stacks + "[block]\nnorm = \"pre\"", {"block[encoder.1].norm=post"})) == "pre post pre pre ");
  CHECK(norms(config(two_stacks + "[block]\nnorm = \"pre\"", {"block[decoder.0].norm=post"})) == "pre pre post pre ");
  CHECK(refused(two_stacks, {"block[encoder.0].attention.cross_score=dot"}) ==
        "command line: block[encoder.0].attention.cross_score does nothing: only the decoder has cross attention");
}

TEST_CASE("keys that name no option of a block are refused", "[config][block_keys]") {
  for (const auto& [assignment, message] : std::vector<std::pair<std::string, std::string>>{
           {"block[4].mixer.kind=gla",
            "block[4].mixer.kind names block 4, but model.layers is 4 (x.toml:2:1): blocks are 0 to 3"},
           {"block[encoder.0].norm=post",
            "block[encoder.0].norm names the encoder, but model.kind is 'decoder' (built-in), and that model has none"},
           {"block[0].mixer.gate=silu",
            "block[0].mixer.gate does nothing: mixer.kind is 'attention' (built-in); it matters only where mixer.kind "
            "is not 'attention'"},
           {"block[0].model.width=32",
            "block[0].model.width: model.width belongs to the whole model: set it without block[0]"},
           {"block[0].seed=1", "block[0].seed: seed belongs to the whole model: set it without block[0]"},
           {"block[0].position.combine=concat",
            "block[0].position.combine: position.combine is about the token embeddings, which belong to the whole "
            "model; set it in [position]"},
           {"block[0].mixr.kind=gla", "block[0].mixr.kind: a block has no option 'mixr.kind'; did you mean "
                                      "'mixer.kind'?"},
           {"block[0].block.norm=post",
            "block[0].block.norm: a block has no option 'block.norm'; did you mean 'norm'?"},
           {"block[0].mixer.kind=glaa",
            "block[0].mixer.kind is 'glaa'; it must be one of " + words_of("mixer.kind") + "; did you mean 'gla'?"},
           {"block[0].dropout=1.5", "block[0].dropout is 1.5; it must be at least 0 and below 1"},
           {"block[0].dropout=@default", "block[0].dropout: a block has no default of its own; give the value"},
           {"block[0]=1",
            "'block[0]' is no option of a block: give the block's number and an option, such as block[3].mixer.kind"},
           {"block[01].norm=post", "block[01].norm: a block is named by its number, counted from 0, such as "
                                   "block[3].mixer.kind; in an encoder-decoder, also such as "
                                   "block[decoder.3].mixer.kind"},
           {"block.override=[]", "block.override is a list of tables, which is allowed only in a file: write "
                                 "[[block.override]] there, or set an option of one block, such as "
                                 "block[3].dropout=0.1"}}) {
    INFO(assignment);
    CHECK(refused(four, {assignment}) == "command line: " + message);
  }
  for (const std::string wrong : {"block[-1].norm", "block[x].norm", "block[.1].norm", "block[middle.1].norm",
                                  "block[].norm", "block[1.2].norm", "block[99999999999999999999].norm", "block[0].",
                                  "block[0]norm", "block[0].mixer", "block[0].attention.parameters"})
    CHECK_FALSE(refused(four, {std::string(wrong) + "=1"}).empty());
  CHECK(refusal_of("\"block[3].mixer.kind\" = \"gla\"\n") ==
        "x.toml:1:1: block[3].mixer.kind: in a file, options of single blocks are written in [[block.override]], such "
        "as layers = [3]");
}

TEST_CASE("a key of a block without quotes is no TOML, and what to write is said", "[config][block_keys]") {
  const std::string hint =
      "; options of single blocks are in [[block.override]], and in arms of a sweep in quotes, such "
      "as \"block[3].mixer.kind\"";
  CHECK_THAT(refusal_of("block[3].mixer.kind = \"gla\"\n"),
             Catch::StartsWith("x.toml:1:6: this is not TOML: ") && Catch::EndsWith(hint));
  CHECK_THAT(refusal_of("[[sweep.block]]\narms.x = { block[3].dropout = 0.1 }\n"), Catch::EndsWith(hint));
  CHECK_FALSE(refusal_of("[[sweep.block]]\narms.x = { \"block[3].dropout\" = }\n").ends_with(hint));
}

TEST_CASE("no setting is ignored beside keys of single blocks", "[config][block_keys]") {
  const std::string two = "[model]\nlayers = 2\n[position]\nkind = \"none\"\n";
  // The command line sets the option for all blocks, and then for each.
  CHECK(refused(two, {"block.dropout=0.1", "block[0].dropout=0.2", "block[1].dropout=0.3"}) ==
        "command line: block.dropout does nothing: every block has its own value");
  // What a file says is dropped.
  const Settings dropped = with(two + "[block]\ndropout = 0.1\n", {"block[0].dropout=0.2", "block[1].dropout=0.3"});
  CHECK(dropped.resolve().layers[1].block.dropout == 0.3);
  CHECK(dropped.dropped() ==
        std::vector<std::string>{"block.dropout = 0.1 (x.toml:6:1) is dropped: every block has its own value"});
  const Settings replaced = with(two + "[[block.override]]\nlayers = [0]\ndropout = 0.1\n", {"block[0].dropout=0.2"});
  CHECK(replaced.resolve().layers[0].block.dropout == 0.2);
  CHECK(replaced.dropped() == std::vector<std::string>{"block.dropout = 0.1 (x.toml:7:1) is dropped: a later setting "
                                                       "sets it for the same blocks"});
  CHECK(refused("[model]\nshared_layers = true\n", {"block[0].norm=post"}) ==
        "x.toml:2:1: model.shared_layers is true, but block[0].norm (command line) gives blocks options of their own; "
        "blocks that share their parameters must have the same options: leave one of the two out");
  // Fewer blocks drop the key, if they come later.
  Settings fewer = with(four, {"block[3].dropout=0.2"});
  fewer.override_with({"model.layers=2"});
  CHECK(fewer.resolve().layers.size() == 2);
  REQUIRE(fewer.dropped().size() == 1);
  CHECK_THAT(fewer.dropped()[0], Catch::Contains("block[3].dropout names block 3"));
}

TEST_CASE("an arm's block.override replaces the file's list", "[config][block_keys][sweep]") {
  const std::string file = four + "[[block.override]]\nlayers = [0]\nmixer.kind = \"gla\"\n";
  const auto arm = [&](const std::string& changes, const std::vector<std::string>& assignments = {}) {
    return arm_of(file + "[[sweep.block]]\narms = [{ " + changes + " }]\n", assignments).resolve();
  };
  CHECK(mixers(arm("\"block.override\" = [{ every = 2, \"mixer.kind\" = \"hgrn2\" }]")) ==
        std::vector<std::string>{"attention", "hgrn2", "attention", "hgrn2"});
  CHECK(mixers(arm("block.override = [{ layers = [3], mixer.kind = \"hgrn2\" }]")) ==
        std::vector<std::string>{"attention", "attention", "attention", "hgrn2"});
  CHECK(mixers(arm("\"block.override\" = []")) == std::vector<std::string>(4, "attention"));
  // Keys of the arm are above its list; keys of the command line are below it.
  CHECK(mixers(arm("\"block[3].mixer.kind\" = \"retention\", \"block.override\" = [{ every = 2, \"mixer.kind\" = "
                   "\"hgrn2\" }]",
                   {"block[0].mixer.kind=gla", "block[1].mixer.kind=gla"})) ==
        std::vector<std::string>{"gla", "hgrn2", "attention", "retention"});
  // The words of the list.
  const auto words = [](const std::string& list) {
    const std::string toml = "[[sweep.block]]\narms = [{ \"block.override\" = " + list + " }]\n";
    return std::get<std::string>(Settings::parse(toml, "x.toml").sweep().blocks.at(0).sets.at(0).changes.at(0).value);
  };
  CHECK(words("[{ every = 4, \"mixer.kind\" = \"attention\" }]") == "every 4th: mixer = attention");
  CHECK(words("[{ layers = [0, 3], norm = \"post\", dropout = 0.1 }, { every = 22, from = 1, to = 50, residual = "
              "\"none\" }]") == "blocks 0, 3: dropout = 0.1, norm = post; every 22nd from 1 to 50: residual = none");
  CHECK(words("[{ stack = \"decoder\", layers = [2], norm = \"post\" }, { every = 1, \"attention.score_mod\" = "
              "\"score * 2\" }, { every = 111, norm = \"pre\" }, { every = 3, norm = \"pre\" }]") ==
        "decoder block 2: norm = post; every block: attention.score_mod = \"score * 2\"; every 111th: norm = pre; "
        "every 3rd: norm = pre");
  CHECK(words("[]").empty());
}

TEST_CASE("an arm's options of blocks are checked as a file's", "[config][block_keys][sweep]") {
  const auto wrong = [](const std::string& block) {
    return refusal([&] { Settings::parse("[[sweep.block]]\n" + block, "x.toml"); });
  };
  const std::string single = "takes single options, and block.override is a list of tables: name an option of a block, "
                             "such as block[3].mixer.kind";
  for (
      const auto& [block, message] : std::vector<std::pair<std::string, std::string>>{
          {"arms = [{ \"block.override\" = [{ \"mixer.kind\" = \"gla\" }] }]",
           "x.toml:2:31: [[block.override]] does not say which blocks: give layers, such as layers = [0, 1], or every, "
           "such as every = 4"},
          {"arms = [{ \"block.override\" = [{ every = 0, \"mixer.kind\" = \"gla\" }] }]",
           "x.toml:2:41: [[block.override]] every is the integer 0; it must be a number from 1 to 1024"},
          {"arms = [{ \"block.override\" = [{ every = 2, \"position.combine\" = \"concat\" }] }]",
           "x.toml:2:44: [[block.override]] can't set position.combine: it is about the token embeddings, which belong "
           "to the whole model; set it in [position]"},
          {"arms = [{ \"block.override\" = [{ every = 2, \"mixer.kind\" = \"gla\", mixer.kind = \"gla\" }] }]",
           "x.toml:2:44: [[block.override]] sets mixer.kind twice"},
          {"arms = [{ \"block.override\" = { every = 2, \"mixer.kind\" = \"gla\" } }]",
           "x.toml:2:30: block.override is a list of tables: write [{ every = 4, \"mixer.kind\" = \"attention\" }]"},
          {"grid = { \"block.override\" = [{ every = 2, norm = \"pre\" }] }",
           "x.toml:2:30: block.override is a list of tables: write [{ every = 4, \"mixer.kind\" = \"attention\" }]"},
          {"arms = [{ \"block.override.norm\" = \"pre\" }]",
           "x.toml:2:11: a sweep's arm cannot change block.override.norm"},
          {"grid = { \"block[0].mixer.kind\" = [\"gla\", \"glaa\"] }",
           "x.toml:2:42: block[0].mixer.kind is 'glaa'; it must be one of " + words_of("mixer.kind") +
               "; did you mean 'gla'?"},
          {"grid = { \"block[0].seed\" = [1] }",
           "x.toml:2:10: block[0].seed: seed belongs to the whole model: set it without block[0]"},
          {"count = 2\nrandom = { \"block.override\" = { choice = [[]] } }", "x.toml:3:12: random " + single},
          {"grid = { \"model.width\" = [32] }\nexclude = [{ \"block.override\" = [] }]",
           "x.toml:3:14: exclude " + single},
          {"grid = { \"model.width\" = [32] }\n[sweep.tune]\nseeds = [9]\ngrid = { \"block.override\" = [[]] }",
           "x.toml:5:1: sweep.tune.grid " + single},
          {"grid = { \"model.width\" = [32] }\n[sweep]\nwithin = \"block.override\"",
           "x.toml:4:10: sweep.within " + single}}) {
    INFO(block);
    CHECK(wrong(block) == message);
  }
  // Every form takes a key; it may also be in nested tables.
  for (const std::string block :
       {"zip = { \"block[0].dropout\" = [0.1, 0.2], \"block[1].dropout\" = [0.2, 0.1] }",
        "[sweep.block.grid.\"block[0]\"]\nmixer.kind = [\"gla\", \"attention\"]\ndropout = [0.1]",
        "count = 3\nrandom = { \"block[1].dropout\" = { uniform = [0.0, 0.5] } }",
        "off.first = { \"block[0].residual\" = \"none\" }", "on.first = { \"block[0].residual\" = \"none\" }",
        "grid = { \"block.override\" = [[], [{ every = 2, norm = \"pre\" }]] }",
        "grid = { \"block[0].dropout\" = [0.1, 0.2] }\nrequire = [{ \"block[0].dropout\" = 0.1 }]"})
    CHECK(wrong(block).empty());
}
