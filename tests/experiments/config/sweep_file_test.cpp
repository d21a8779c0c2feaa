// Tests of a file's table [sweep]: what it sets, and the error messages for invalid tables.
#include "tests/catch.hpp"
#include "tests/experiments/config/config_support.hpp"

#include <chrono>

using namespace heed;
using namespace heed::test;

namespace {

SweepSpec sweep(const std::string& toml) { return Settings::parse(toml, "x.toml").sweep(); }

std::string wrong(const std::string& toml) {
  return refusal([&] { sweep(toml); });
}

/// Text such as "attention.score=\"dot\" ..." for a list of changes.
std::string shown(const std::vector<Change>& changes) {
  std::string out;
  for (const Change& c : changes) out += (out.empty() ? "" : " ") + c.key + "=" + value_text(c.value);
  return out;
}

} // namespace

TEST_CASE("A file without a sweep has none", "[config][sweep]") {
  CHECK_FALSE(sweep("seed = 1").present);
  CHECK(sweep("[sweep]").present);
}

TEST_CASE("Seeds are a list, or how many", "[config][sweep]") {
  CHECK(sweep("[sweep]\nseeds = [3, 1, 2]").seeds == std::vector<std::int64_t>{3, 1, 2});
  CHECK(sweep("[sweep]\nseeds = 3").seeds == std::vector<std::int64_t>{0, 1, 2});
  CHECK(wrong("[sweep]\nseeds = [1, 1]") == "x.toml:2:9: sweep.seeds holds 1 twice; each seed is one replicate");
  CHECK(wrong("[sweep]\nseeds = 0") ==
        "x.toml:2:9: sweep.seeds is 0; as a number it must be at least 1 and at most 1000000");
  const std::string allowed = "; it must be a list of integers from 0 on, such as seeds = [0, 1, 2], or how many";
  CHECK(wrong("[sweep]\nseeds = []") == "x.toml:2:9: sweep.seeds is an empty list" + allowed);
  CHECK(wrong("[sweep]\nseeds = \"3\"") == "x.toml:2:9: sweep.seeds is the text '3'" + allowed);
  CHECK(wrong("[sweep]\nseeds = [1, -1]") == "x.toml:2:9: sweep.seeds holds the integer -1" + allowed);
}

TEST_CASE("A grid holds its axes in the order in which they are written", "[config][sweep]") {
  const SweepSpec s =
      sweep("[[sweep.block]]\ngrid = { \"model.width\" = [32, 16], \"attention.score\" = [\"dot\", \"cosine\"] }\n"
            "exclude = [{ \"model.width\" = 16, attention.score = \"dot\" }]");
  REQUIRE(s.blocks.size() == 1);
  const SweepBlock& b = s.blocks[0];
  CHECK(b.kind == "grid");
  REQUIRE(b.axes.size() == 2);
  CHECK(b.axes[0].first == "model.width");
  CHECK(shown(b.axes[0].second) == "model.width=32 model.width=16");
  CHECK(b.axes[1].first == "attention.score");
  CHECK(shown(b.axes[1].second) == "attention.score=\"dot\" attention.score=\"cosine\"");
  REQUIRE(b.exclude.size() == 1);
  CHECK(shown(b.exclude[0]) == "model.width=16 attention.score=\"dot\"");
  CHECK(b.axes[0].second[1].origin.text() == "x.toml:2:31");
}

TEST_CASE("Options may be named in quotes or in tables", "[config][sweep]") {
  const SweepSpec s =
      sweep("[[sweep.block]]\n[sweep.block.grid]\nattention.score = [\"dot\"]\nattention.cosine.temperature = [1]");
  CHECK(s.blocks[0].axes[0].first == "attention.score");
  CHECK(shown(s.blocks[0].axes[1].second) == "attention.cosine.temperature=1.0");
}

TEST_CASE("A zip takes lists of one length", "[config][sweep]") {
  const SweepSpec s =
      sweep("[[sweep.block]]\nkind = \"zip\"\nzip = { \"model.width\" = [32, 16], \"model.heads\" = [4, 2] }");
  CHECK(s.blocks[0].kind == "zip");
  CHECK(s.blocks[0].axes.size() == 2);
  CHECK(wrong("[[sweep.block]]\nkind = \"zip\"\nzip = { \"model.width\" = [32, 16], \"model.heads\" = [4] }") ==
        "x.toml:3:7: zip takes lists of one length: model.width has 2 values, model.heads has 1");
}

TEST_CASE("Ablations have a name and what they change", "[config][sweep]") {
  const SweepSpec s =
      sweep("[[sweep.block]]\nkind = \"leave_one_out\"\noff.residual = { \"block.residual\" = \"none\" }\n"
            "off.attention = { \"attention.score\" = \"cosine\", \"attention.cosine.temperature\" = 2 }");
  REQUIRE(s.blocks[0].sets.size() == 2);
  CHECK(s.blocks[0].sets[0].name == "residual");
  CHECK(shown(s.blocks[0].sets[0].changes) == "block.residual=\"none\"");
  CHECK(s.blocks[0].sets[1].name == "attention");
  CHECK(shown(s.blocks[0].sets[1].changes) == "attention.score=\"cosine\" attention.cosine.temperature=2.0");
  CHECK(s.blocks[0].sets[1].changes[1].origin.text() == "x.toml:4:49");
}

TEST_CASE("Blocks add up, and each is of the kind that it holds", "[config][sweep]") {
  const SweepSpec s = sweep("[[sweep.block]]\ngrid.\"model.width\" = [8]\n[[sweep.block]]\nzip.\"model.width\" = [8]\n"
                            "[[sweep.block]]\noff.small.\"model.width\" = 8\n"
                            "[[sweep.block]]\non.wide.\"model.width\" = 128\n"
                            "[[sweep.block]]\narms.one.\"model.width\" = 8\n"
                            "[[sweep.block]]\ncount = 2\nrandom.\"model.width\".choice = [8, 16]\n"
                            "[[sweep.block]]\nkind = \"pairwise\"\noff.small.\"model.width\" = 8");
  REQUIRE(s.blocks.size() == 7);
  CHECK(s.blocks[0].kind == "grid");
  CHECK(s.blocks[1].kind == "zip");
  CHECK(s.blocks[2].kind == "leave_one_out");
  CHECK(s.blocks[3].kind == "add_one");
  CHECK(s.blocks[4].kind == "list");
  CHECK(s.blocks[5].kind == "random");
  CHECK(s.blocks[6].kind == "pairwise");
}

TEST_CASE("Arms are listed with names or without", "[config][sweep]") {
  const SweepSpec named = sweep("[[sweep.block]]\narms.small = { \"model.width\" = 8, \"model.heads\" = 2 }\n"
                                "arms.large = { \"model.width\" = 128 }");
  REQUIRE(named.blocks[0].sets.size() == 2);
  CHECK(named.blocks[0].sets[0].name == "small");
  CHECK(shown(named.blocks[0].sets[0].changes) == "model.width=8 model.heads=2");
  const SweepSpec listed = sweep("[[sweep.block]]\narms = [{ \"model.width\" = 8 }, { \"model.width\" = 128 }]");
  REQUIRE(listed.blocks[0].sets.size() == 2);
  CHECK(listed.blocks[0].sets[1].name.empty());
  CHECK(shown(listed.blocks[0].sets[1].changes) == "model.width=128");
  CHECK(listed.blocks[0].sets[1].origin.text() == "x.toml:2:32");
}

TEST_CASE("An arm's name holds no commands to terminals", "[config][sweep]") {
  for (const std::string holder : {"arms", "off", "on"}) {
    const auto named = [&](const std::string& name) {
      return "[[sweep.block]]\n" + holder + ".\"" + name + "\" = { \"model.heads\" = 1 }";
    };
    CHECK_THAT(wrong(named("\\u001b[31mred")),
               Catch::Contains("the name of an arm contains the control character U+001B, which can't be shown"));
    CHECK_THAT(wrong(named("\\u009b")), Catch::Contains("U+009B"));
    CHECK_THAT(wrong(named("\\r")), Catch::Contains("U+000D"));
    CHECK(wrong(named("größer, 大")).empty());
  }
}

TEST_CASE("Random arms state a distribution for each option, a count and a seed", "[config][sweep]") {
  const SweepBlock b = sweep("[[sweep.block]]\ncount = 20\nseed = 7\nrandom = { \"train.learning_rate\" = { "
                             "log_uniform = [1e-4, 1e-2] }, \"model.heads\" = { choice = [1, 2, 4] }, \"model.layers\" "
                             "= { int_uniform = [1, 3] } }")
                           .blocks.at(0);
  CHECK(b.count == 20);
  CHECK(b.seed == 7);
  REQUIRE(b.draws.size() == 3);
  CHECK(b.draws[0].key == "train.learning_rate");
  CHECK(b.draws[0].distribution == "log_uniform");
  CHECK(std::get<double>(b.draws[0].values.at(1).value) == 1e-2);
  CHECK(b.draws[1].values.size() == 3);
}

TEST_CASE("A sweep may even arms out, and tune them", "[config][sweep]") {
  CHECK(sweep("[sweep]\nseeds = 2").match == "none");
  CHECK_FALSE(sweep("[sweep]\nseeds = 2").tune);
  const SweepSpec s = sweep("[sweep]\nmatch = \"parameters\"\n[sweep.tune]\nseeds = [100, 101]\n"
                            "grid = { \"train.learning_rate\" = [1e-3, 3e-3], \"train.clip\" = [0, 1] }");
  CHECK(s.match == "parameters");
  CHECK(s.match_origin.text() == "x.toml:2:9");
  REQUIRE(s.tune);
  CHECK(s.tune->seeds == std::vector<std::int64_t>{100, 101});
  REQUIRE(s.tune->axes.size() == 2);
  CHECK(s.tune->axes[0].first == "train.learning_rate");
  CHECK(shown(s.tune->axes[1].second) == "train.clip=0.0 train.clip=1.0");
  CHECK(s.tune->origin.text() == "x.toml:3:1");
}

TEST_CASE("What is wrong with a sweep is told with its place", "[config][sweep]") {
  const std::string head = "[[sweep.block]]\n";
  struct Case {
    std::string toml, message;
  };
  const std::vector<Case> cases{
      {"sweep = 3", "x.toml:1:9: [sweep] is a table, but here is the integer 3"},
      {"[sweep]\nseed = [1]", "x.toml:2:1: [sweep] has no option 'seed'; did you mean 'seeds'?"},
      {"[sweep]\nblock = 3", "x.toml:2:9: sweep.block is a list of tables: write [[sweep.block]]"},
      {head + "kind = \"gird\"",
       "x.toml:2:8: [[sweep.block]] kind is the text 'gird'; it must be one of 'grid', 'zip', "
       "'list', 'random', 'leave_one_out', 'add_one', 'pairwise'; did you mean 'grid'?"},
      {head + "kind = \"grid\"", "x.toml:1:1: [[sweep.block]] of kind 'grid' changes nothing: give it grid"},
      {head + "kind = \"leave_one_out\"",
       "x.toml:1:1: [[sweep.block]] of kind 'leave_one_out' changes nothing: give it off"},
      {head + "kind = \"grid\"\ngrid.\"model.width\" = [8]\nzip.\"model.width\" = [8]",
       "x.toml:4:1: [[sweep.block]] of kind 'grid' has no option 'zip'; it has 'kind', 'grid', 'exclude', "
       "'require'"},
      {head + "grid = 3",
       "x.toml:2:8: grid is the integer 3; it must be a table of options and their values, such as grid "
       "= { \"attention.score\" = [\"dot\", \"scaled_dot\"] }"},
      {head + "grid = {}",
       "x.toml:2:8: grid is empty; it must be a table of options and their values, such as grid = { "
       "\"attention.score\" = [\"dot\", \"scaled_dot\"] }"},
      {head + "grid = { \"model.width\" = 8 }",
       "x.toml:2:26: grid gives model.width the integer 8; it must be a list of the values to try"},
      {head + "grid = { \"model.width\" = [] }",
       "x.toml:2:26: grid gives model.width no values; it must be a list of the values to try"},
      {head + "grid = { \"model.width\" = [8, 0] }",
       "x.toml:2:30: model.width is 0; it must be at least 1 and at most 65536 (features)"},
      {head + "grid = { \"model.widht\" = [8] }", "x.toml:2:10: [model] has no option 'widht'; did you mean 'width'?"},
      {head + "grid = { \"attention.score\" = [\"dto\"] }",
       "x.toml:2:31: attention.score is 'dto'; it must be one of " + words_of("attention.score") +
           "; did you mean 'dot'?"},
      {head + "grid = { seed = [1, 2] }",
       "x.toml:2:10: a sweep's arm cannot change seed: seeds are replicates, so list them in sweep.seeds"},
      {head + "grid = { \"train.threads\" = [1, 2] }",
       "x.toml:2:10: a sweep's arm cannot change train.threads: it is not part of a run's identity"},
      {head + "grid = { \"sweep.seeds\" = [1, 2] }", "x.toml:2:10: a sweep's arm cannot change sweep.seeds"},
      {head + "off.x = { \"block.override.x\" = [] }", "x.toml:2:11: a sweep's arm cannot change block.override.x"},
      {head + "off = 3", "x.toml:2:7: off must name what each ablation changes, such as off.residual = { "
                         "\"block.residual\" = \"none\" }"},
      {head + "off.x = 3",
       "x.toml:2:9: off.x is the integer 3; it must be a table of what it changes, such as off.x = { "
       "\"block.residual\" = \"none\" }"},
      {head + "off.x = {}", "x.toml:2:9: off.x is empty; it must be a table of what it changes, such as off.x = { "
                            "\"block.residual\" = \"none\" }"},
      {head + "off.reference = { \"model.width\" = 8 }",
       "x.toml:2:5: off.reference: the reference is the file without its [sweep]"},
      {head + "off.x = { \"model.width\" = [8] }",
       "x.toml:2:27: model.width is a list; it must be an integer, for example: width = 64"},
      {head + "grid.\"model.width\" = [8]\nexclude = 3",
       "x.toml:3:11: exclude is the integer 3; it must be a list of tables, such as exclude = [{ \"model.heads\" = 8, "
       "\"model.width\" = 32 }]"},
      {head + "grid.\"model.width\" = [8]\nexclude = [{}]",
       "x.toml:3:12: exclude holds an empty table; each entry must be a table of options and values"},
      {head + "grid.\"model.width\" = [8]\nrequire = [3]",
       "x.toml:3:12: require holds the integer 3; each entry must be a table of options and values"},
      {head + "arms = []\nkind = \"add_one\"",
       "x.toml:2:1: [[sweep.block]] of kind 'add_one' has no option 'arms'; it has 'kind', 'on', 'exclude', 'require'\n"
       "x.toml:1:1: [[sweep.block]] of kind 'add_one' changes nothing: give it on"},
      {head + "arms = [{}]", "x.toml:2:9: arms holds an empty table; each entry must be a table of options and values"},
      {head + "on.x = 3", "x.toml:2:8: on.x is the integer 3; it must be a table of what it changes, such as on.x = { "
                          "\"block.residual\" = \"none\" }"},
      {head + "random.\"model.width\".choice = [8]",
       "x.toml:1:1: [[sweep.block]] of kind 'random' does not say how many arms to draw: give it count"},
      {head + "count = 0\nrandom.\"model.width\".choice = [8]",
       "x.toml:2:9: [[sweep.block]] count is the integer 0; it must be an integer from 1 to 10000"},
      {head + "count = 2\nrandom = { \"model.width\" = { normal = [0, 1] } }",
       "x.toml:3:30: there is no distribution 'normal'; there are 'uniform', 'log_uniform', 'int_uniform', 'choice'"},
      {head + "count = 2\nrandom = { \"model.width\" = { uniform = [8, 16] } }",
       "x.toml:3:40: uniform of model.width: it draws real numbers, but model.width is an integer; use int_uniform or "
       "choice"},
      {head + "count = 2\nrandom = { \"train.learning_rate\" = { log_uniform = [0, 1] } }",
       "x.toml:3:53: train.learning_rate is 0; it must be above 0 and at most 1000000"},
      {head + "count = 2\nrandom = { \"train.clip\" = { log_uniform = [0, 1] } }",
       "x.toml:3:43: log_uniform of train.clip: the smallest must be above 0, because the draws are uniform in the "
       "logarithm"},
      {head + "count = 2\nrandom = { \"model.width\" = { int_uniform = [16, 8] } }",
       "x.toml:3:44: int_uniform of model.width: the smallest, 16, must be below the largest, 8"},
      {head + "count = 2\nrandom = { \"model.width\" = [8, 16] }",
       "x.toml:3:28: random gives model.width a list; it must be one distribution, such as { \"train.learning_rate\" = "
       "{ log_uniform = [1e-4, 1e-2] } }"},
      {head + "count = 2\nrandom = {}",
       "x.toml:3:10: random is empty; it must be a table of options and their distributions, such as { "
       "\"train.learning_rate\" = { log_uniform = [1e-4, 1e-2] } }"},
      {head + "count = 2\nrandom = { \"train.clip\" = { uniform = [0, 1, 2] } }",
       "x.toml:3:39: uniform of train.clip: it has 3 values; it takes two, the smallest and the largest"},
      {head + "count = 2\nrandom = { \"train.clip\" = { choice = [] } }",
       "x.toml:3:38: choice of train.clip is an empty list; it must be a list of values"},
      {head + "count = 2\nrandom = { \"train.clip\" = { int_uniform = [0, 1] } }",
       "x.toml:3:43: int_uniform of train.clip: it draws integers, but train.clip is a number"},
      {head + "grid.\"model.width\" = [8]\ncount = 2",
       "x.toml:3:1: [[sweep.block]] of kind 'grid' has no option 'count'; it has 'kind', 'grid', 'exclude', 'require'"},
      {"[sweep]\nlooks = 6",
       "x.toml:2:9: sweep.looks is the integer 6; it must be a rising list of numbers of seeds from "
       "2 on, such as looks = [6, 10]"},
      {"[sweep]\nlooks = [6, 1]",
       "x.toml:2:13: sweep.looks holds the integer 1; it must be a rising list of numbers of "
       "seeds from 2 on, such as looks = [6, 10]"},
      {"[sweep]\nlooks = [6, 6]",
       "x.toml:2:13: sweep.looks holds 6 after 6; it must be a rising list of numbers of seeds "
       "from 2 on, such as looks = [6, 10]"},
      {"[sweep]\nlook = [6]", "x.toml:2:1: [sweep] has no option 'look'; did you mean 'looks'?"},
      {"[sweep]\nmatch = \"parameter\"", "x.toml:2:9: sweep.match is the text 'parameter'; it must be one of 'none', "
                                         "'parameters', 'flops', 'state'; did you mean 'parameters'?"},
      {"[sweep.tune]\nseed = [1]", "x.toml:2:1: [sweep.tune] has no option 'seed'; did you mean 'seeds'?"},
      {"[sweep.tune]\nseeds = [1, 1]", "x.toml:2:9: sweep.tune.seeds holds 1 twice; each seed is one replicate"},
      {"[sweep.tune]\ngrid = { seed = [1] }",
       "x.toml:2:10: a sweep's arm cannot change seed: seeds are replicates, so list them in sweep.seeds"},
  };
  for (const Case& c : cases) {
    INFO(c.toml);
    CHECK(wrong(c.toml) == c.message);
  }
}

TEST_CASE("a list of very many seeds is read in a moment, and one that stands there twice is found",
          "[config][sweep]") {
  std::string text = "[sweep]\nseeds = [";
  for (int seed = 0; seed < 200'000; ++seed) text += std::to_string(seed * 3) + (seed % 10 == 9 ? ",\n" : ", ");
  const auto begin = std::chrono::steady_clock::now();
  const Settings settings = Settings::parse(text + "]\n", "test.toml");
  // Comparing every pair would need some 20 billion comparisons.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
  CHECK(settings.sweep().seeds.size() == 200'000);
  CHECK(settings.sweep().seeds[7] == 21);
  CHECK_THROWS_WITH(Settings::parse(text + "300]\n", "test.toml"), Catch::Contains("300 twice"));
}
