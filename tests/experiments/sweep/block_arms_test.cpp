// Tests of arms that change options of single blocks: their labels, their runs, groups and conditions.
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

using namespace heed;
using Catch::Contains;

namespace {

const std::string head = "[model]\nlayers = 4\n[position]\nkind = \"none\"\n[mixer]\nkind = \"gated_delta_net\"\n";

std::string override_of(const std::string& which) {
  return "[[block.override]]\n" + which + "\nmixer.kind = \"attention\"\n";
}

} // namespace

TEST_CASE("arms of single blocks have the runs of the same config with [[block.override]]", "[sweep][block_arms]") {
  const Plan p = plan_of(head + "[[sweep.block]]\ngrid = { \"block[3].mixer.kind\" = [\"attention\", \"gla\"] }\n"
                                "[[sweep.block]]\narms.every_2nd = { \"block.override\" = [{ every = 2, \"mixer.kind\" "
                                "= \"attention\" }] }\n"
                                "[[sweep.block]]\narms = [{ \"block.override\" = [{ every = 4, \"mixer.kind\" = "
                                "\"attention\" }] }, { \"block.override\" = [{ layers = [0, 2], \"mixer.kind\" = "
                                "\"attention\" }, { layers = [1], norm = \"post\" }] }]\n");
  // Every fourth of four blocks is block 3, which is an arm already.
  CHECK(labels_of(p) == Labels{"reference", "block 3: mixer = attention", "block 3: mixer = gla", "every 2nd",
                               "override: blocks 0, 2: mixer = attention; block 1: norm = post"});
  CHECK(p.arms[1].changes == std::vector<PlannedChange>{{"block[3].mixer.kind", "attention"}});
  CHECK(p.arms[3].changes == std::vector<PlannedChange>{{"block.override", "every 2nd: mixer = attention"}});
  CHECK(p.runs[1].id == plan_of(head + override_of("layers = [3]")).runs[0].id);
  CHECK(p.runs[1].id == plan_of(head + override_of("every = 4")).runs[0].id);
  CHECK(p.runs[3].id == plan_of(head + override_of("layers = [1, 3]")).runs[0].id);
  CHECK(difference(config_of(p.runs[3]), config_from(head + override_of("every = 2"))).empty());
  CHECK(config_of(p.runs[3]).layers[1].mixer.kind == "attention");
}

TEST_CASE("the plan's hash covers what an arm's blocks have", "[sweep][block_arms]") {
  const auto hash = [](const std::string& layers) {
    return plan_of(head + "[[sweep.block]]\narms.one = { \"block.override\" = [{ layers = [" + layers +
                   "], \"mixer.kind\" = \"attention\" }] }\n")
        .hash;
  };
  CHECK(hash("0") != hash("1"));
  CHECK(hash("0") == hash("0"));
}

TEST_CASE("labels of single blocks keep options of a choice beside it", "[sweep][block_arms]") {
  const std::string decoder = "[model]\nlayers = 2\n";
  CHECK(labels_of(plan_of(decoder + "[[sweep.block]]\narms = [{ \"block[0].attention.score\" = \"cosine\", "
                                    "\"block[0].attention.cosine.temperature\" = 3.0 }, { \"attention.score\" = "
                                    "\"dot\", \"block[1].attention.score\" = \"additive\" }]\n")) ==
        Labels{"reference", "block 0: score = cosine, temperature 3.0", "score = dot, block 1: score = additive"});
  CHECK(labels_of(plan_of("[model]\nkind = \"encoder_decoder\"\n[[sweep.block]]\ngrid = { \"block[decoder.0].norm\" = "
                          "[\"pre\", \"post\"] }\n"))
            .back()
            .starts_with("decoder block 0: norm = p"));
  CHECK(labels_of(plan_of(decoder + "[[block.override]]\nlayers = [0]\ndropout = 0.1\n[[sweep.block]]\narms = [{ "
                                    "\"block.override\" = [] }]\n")) == Labels{"reference", "no override"});
  // An arm that equals the reference is the reference.
  CHECK(labels_of(plan_of(decoder + "[[block.override]]\nlayers = [0]\ndropout = 0.1\n[[sweep.block]]\ngrid = { "
                                    "\"block[0].dropout\" = [0.1, 0.2] }\n")) ==
        Labels{"reference", "block 0: dropout = 0.2"});
}

TEST_CASE("a grid over two blocks leaves a value of the reference out of the label", "[sweep][block_arms]") {
  const Plan p = plan_of(head + "[[sweep.block]]\ngrid = { \"block[0].mixer.kind\" = [\"gated_delta_net\", "
                                "\"attention\"], \"block[1].mixer.kind\" = [\"gated_delta_net\", \"attention\"] }\n"
                                "exclude = [{ \"block[0].mixer.kind\" = \"attention\", \"block[1].mixer.kind\" = "
                                "\"attention\" }]\n");
  CHECK(labels_of(p) == Labels{"reference", "block 1: mixer = attention", "block 0: mixer = attention"});
  CHECK(labels_of(plan_of(head + "[[sweep.block]]\narms = [{ \"block[0].mixer.kind\" = \"attention\", "
                                 "\"block[3].mixer.kind\" = \"attention\", \"block[1].norm\" = \"post\" }]\n"))
            .back() == "blocks 0, 3: mixer = attention, block 1: norm = post");
  CHECK(p.arms[1].changes == std::vector<PlannedChange>{{"block[1].mixer.kind", "attention"}});
  CHECK(p.notes.empty());
  // A condition may name a block that no arm changes by a key.
  const Plan required = plan_of(head +
                                "[[sweep.block]]\ngrid = { \"mixer.kind\" = [\"gla\", \"hgrn2\"] }\nrequire = [{ "
                                "\"block[2].mixer.kind\" = \"gla\" }]\n");
  CHECK(labels_of(required) == Labels{"reference", "mixer = gla"});
}

TEST_CASE("leave-one-out, pairs, draws and groups of single blocks", "[sweep][block_arms]") {
  CHECK(labels_of(plan_of("[model]\nlayers = 2\n[[sweep.block]]\nkind = \"pairwise\"\noff.first = { "
                          "\"block[0].residual\" = \"none\" }\noff.second = { \"block[1].residual\" = \"none\" }\n")) ==
        Labels{"reference", "without first", "without second", "without first and second"});
  CHECK_THROWS_WITH(plan_of("[model]\nlayers = 2\n[[sweep.block]]\nkind = \"pairwise\"\noff.a = { \"block.override\" = "
                            "[{ layers = [0], norm = \"post\" }] }\noff.b = { \"block.override\" = [{ layers = [1], "
                            "norm = \"post\" }] }\n"),
                    Contains("off.a and off.b both set block.override"));
  const Plan drawn = plan_of("[[sweep.block]]\ncount = 3\nseed = 1\nrandom = { \"block[1].dropout\" = { uniform = "
                             "[0.1, 0.4] } }\n");
  CHECK(drawn.arms.size() == 4);
  CHECK(config_of(drawn.runs[1]).layers[1].block.dropout > 0.1);
  CHECK(config_of(drawn.runs[1]).layers[0].block.dropout == 0.0);
  const Plan groups = plan_of(head + "[sweep]\nwithin = \"block[0].mixer.kind\"\n[[sweep.block]]\ngrid = { "
                                     "\"block[0].mixer.kind\" = [\"gated_delta_net\", \"attention\"], \"block.norm\" = "
                                     "[\"pre\", \"post\"] }\n");
  REQUIRE(groups.arms.size() == 4);
  CHECK(labels_of(groups)[2] == "block 0: mixer = attention: reference");
  CHECK(groups.arms[3].reference == 2);
}

TEST_CASE("what an arm sets in a block cannot be tuned, too", "[sweep][block_arms]") {
  const std::string tuned = "[sweep]\nseeds = 2\n[sweep.tune]\nseeds = [9]\ngrid = { \"block[1].dropout\" = [0.0, 0.1] "
                            "}\n";
  const Plan p = plan_of(head + tuned + "[[sweep.block]]\ngrid = { \"block[0].mixer.kind\" = [\"attention\"] }\n");
  REQUIRE(p.tuning);
  CHECK(p.tuning->arms[1].trials.size() == 2);
  CHECK_THROWS_WITH(plan_of(head + tuned +
                            "[[sweep.block]]\narms = [{ \"block.override\" = [{ layers = [1], dropout = "
                            "0.2 }] }]\n"),
                    Contains("tries block[1].dropout, which an arm of the sweep also changes"));
}

TEST_CASE("an arm's options of blocks that do nothing are refused", "[sweep][block_arms]") {
  CHECK_THROWS_WITH(plan_of(head + "[[sweep.block]]\ngrid = { \"block[4].mixer.kind\" = [\"attention\"] }\n"),
                    Contains("test.toml:8:35: block[4].mixer.kind names block 4, but model.layers is 4"));
  CHECK_THROWS_WITH(plan_of(head + "[[sweep.block]]\ngrid = { \"block[0].attention.window\" = [4] }\n"),
                    Contains("test.toml:8:41: block[0].attention.window does nothing"));
  CHECK_THROWS_WITH(plan_of(head + "[[sweep.block]]\narms.x = { \"block.override\" = [{ layers = [9], \"mixer.kind\" = "
                                   "\"attention\" }] }\n"),
                    Contains("[[block.override]] names block 9, but model.layers is 4") &&
                        Contains("(in the sweep's arm x)"));
}
