// Tests of the arms that each kind of [sweep] block gives.
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

#include <set>

using namespace heed;
using Catch::Contains;

TEST_CASE("listed arms are these and no others", "[sweep][kinds]") {
  const Plan p = plan_of("[[sweep.block]]\narms.narrow_one = { \"model.width\" = 32, \"model.heads\" = 2 }\n"
                         "arms.plain = { \"attention.score\" = \"dot\" }\n"
                         "[[sweep.block]]\narms = [{ \"model.layers\" = 1 }, { \"attention.score\" = \"dot\" }]\n");
  CHECK(labels_of(p) == Labels{"reference", "narrow one", "plain", "layers = 1"});
  CHECK(p.arms[1].changes == std::vector<PlannedChange>{{"model.width", "32"}, {"model.heads", "2"}});
}

TEST_CASE("additions are tried one by one", "[sweep][kinds]") {
  const Plan p = plan_of("[attention]\nscore = \"dot\"\n[[sweep.block]]\n"
                         "on.scale = { \"attention.score\" = \"scaled_dot\" }\n"
                         "on.more_heads = { \"model.heads\" = 8 }\n");
  CHECK(labels_of(p) == Labels{"reference", "with scale", "with more heads"});
  CHECK(p.arms[1].changes == std::vector<PlannedChange>{{"attention.score", "scaled_dot"}});
}

TEST_CASE("pairs come beside each alone", "[sweep][kinds]") {
  const std::string three = "[[sweep.block]]\nkind = \"pairwise\"\noff.residual = { \"block.residual\" = \"none\" }\n"
                            "off.norm = { \"block.norm\" = \"none\" }\noff.scale = { \"attention.score\" = \"dot\" }\n";
  const Plan p = plan_of(three);
  CHECK(labels_of(p) == Labels{"reference", "without residual", "without norm", "without scale",
                               "without residual and norm", "without residual and scale", "without norm and scale"});
  CHECK(p.arms[4].changes == std::vector<PlannedChange>{{"block.residual", "none"}, {"block.norm", "none"}});

  CHECK_THROWS_WITH(plan_of(three + "off.heads = { \"attention.score\" = \"cosine\" }\n"),
                    Contains("test.toml:6:15: off.scale and off.heads both set attention.score"));
}

TEST_CASE("random arms are drawn once and for all", "[sweep][kinds]") {
  const std::string text = "[[sweep.block]]\ncount = 6\nseed = 3\nrandom = { \"train.learning_rate\" = { log_uniform = "
                           "[1e-4, 1e-2] }, \"attention.score\" = { choice = [\"dot\", \"additive\"] } }\n";
  const Plan p = plan_of(text);
  CHECK(p.arms.size() == 7);
  CHECK(plan_of(text).hash == p.hash);
  // A larger number of draws leaves the first draws unchanged; so does one more option.
  const Plan more = plan_of("[[sweep.block]]\ncount = 8\nseed = 3\nrandom = { \"train.learning_rate\" = { log_uniform "
                            "= [1e-4, 1e-2] }, \"attention.score\" = { choice = [\"dot\", \"additive\"] } }\n");
  for (std::size_t i = 0; i < 7; ++i) CHECK(more.runs[i].id == p.runs[i].id);
  const Plan other = plan_of("[[sweep.block]]\ncount = 6\nseed = 3\nrandom = { \"train.learning_rate\" = { log_uniform "
                             "= [1e-4, 1e-2] } }\n");
  CHECK(config_of(other.runs[3]).train.learning_rate == config_of(p.runs[3]).train.learning_rate);
  std::set<double> rates;
  for (const PlannedRun& run : p.runs) rates.insert(config_of(run).train.learning_rate);
  CHECK(rates.size() == 7);
  // The arms of seed 3 are the same on every machine: Philox4x32-10 and XXH3 written in Python give them.
  CHECK(labels_of(other).at(1) == "learning rate = 0.0005305");
  CHECK(labels_of(other).at(2) == "learning rate = 0.0001574");
  CHECK(labels_of(other).at(3) == "learning rate = 0.001879");
}

TEST_CASE("conditions hold for every kind", "[sweep][kinds]") {
  const Plan p = plan_of("[[sweep.block]]\ngrid = { \"model.width\" = [32, 64, 128], \"model.heads\" = [2, 4, 8] }\n"
                         "require = [{ \"model.heads\" = 8 }, { \"model.width\" = 32, \"model.heads\" = 2 }]\n"
                         "exclude = [{ \"model.width\" = 64 }]\n");
  CHECK(labels_of(p) ==
        Labels{"reference", "width = 32, heads = 2", "width = 32, heads = 8", "width = 128, heads = 8"});

  const Plan q = plan_of("[[sweep.block]]\nkind = \"pairwise\"\noff.residual = { \"block.residual\" = \"none\" }\n"
                         "off.norm = { \"block.norm\" = \"none\" }\nexclude = [{ \"block.residual\" = \"none\", "
                         "\"block.norm\" = \"none\" }]\n");
  CHECK(labels_of(q) == Labels{"reference", "without residual", "without norm"});
  CHECK_THROWS_WITH(plan_of("[[sweep.block]]\non.heads = { \"model.heads\" = 8 }\n"
                            "require = [{ \"model.width\" = 32 }]\n"),
                    Contains("test.toml:1:1") && Contains("excludes them all"));
}

TEST_CASE("arms of different kinds that are equal are one", "[sweep][kinds]") {
  const Plan p = plan_of("[[sweep.block]]\ngrid = { \"attention.score\" = [\"dot\", \"cosine\"] }\n"
                         "[[sweep.block]]\narms.plain = { \"attention.score\" = \"dot\" }\n"
                         "[[sweep.block]]\non.cosine = { \"attention.score\" = \"cosine\" }\n"
                         "[[sweep.block]]\ncount = 5\nrandom.\"attention.score\".choice = [\"dot\", \"cosine\"]\n");
  CHECK(labels_of(p) == Labels{"reference", "score = dot", "score = cosine"});
}

TEST_CASE("A grid of formulas is named readably, and a formula's parameters tell arms apart", "[sweep][formula]") {
  const Plan p = plan_of(R"toml(
[attention]
score_mod = "s - slope * (i - j)"
[attention.parameters.slope]
per = "head"
[[sweep.block]]
grid = { "attention.score_mod" = ["", "20 * tanh(s / 20)"] }
[[sweep.block]]
grid = { "attention.parameters.slope.learned" = [false], "attention.parameters.slope.start" = ["0.1", "0.2"] }
)toml");
  CHECK(labels_of(p) == Labels{"reference", "no score mod", "score mod = 20 * tanh(s / 20)",
                               "learned = false, start = 0.1", "learned = false, start = 0.2"});
  std::set<std::string> ids;
  for (const PlannedRun& run : p.runs) ids.insert(run.id);
  CHECK(ids.size() == 5);
}
