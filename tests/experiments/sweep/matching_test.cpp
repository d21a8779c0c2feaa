// Tests of arms that are matched in parameters, FLOPs or the state, with a cost counted by hand: the parameters of one
// block's attention and feed-forward layer, and what decoding 64 tokens stores.
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

using namespace heed;
using Catch::Contains;

namespace {

/// 4 d^2 for attention, 2 d d for additive attention's own parameters, 2 d f for the feed-forward layer, in each layer.
Cost counted(const Config& config) {
  Cost cost;
  const std::int64_t d = config.model.width;
  for (const LayerChoice& layer : config.layers) {
    const std::int64_t f = layer.block.ffn_width > 0 ? layer.block.ffn_width : 4 * d;
    cost.parameters += 4 * d * d + (layer.attention.score == "additive" ? 2 * d * d : 0) + 2 * d * f;
  }
  cost.flops_per_step = 100.0 * static_cast<double>(cost.parameters) + (config.model.heads == 8 ? 4e6 : 0);
  return cost;
}

/// 2 d for each of 64 tokens with attention, d^2 / heads with a recurrence, in each layer; nothing that sees later
/// tokens. The heads divide the width.
Cost stored(const Config& config) {
  const std::int64_t d = config.model.width, heads = config.model.heads;
  if (d % heads != 0) throw Refused("heads do not divide the width");
  Cost cost;
  cost.parameters = d;
  if (!config.layers.front().attention.causal) return cost;
  cost.state_size = 0;
  for (const LayerChoice& layer : config.layers)
    *cost.state_size += layer.mixer.kind == "attention" ? 64 * 2 * d : d * d / heads;
  return cost;
}

const std::string additive = "[[sweep.block]]\ngrid = { \"attention.score\" = [\"dot\", \"additive\"] }\n";

} // namespace

TEST_CASE("an arm with more weights gets a narrower feed-forward", "[sweep][match]") {
  const Plan p = plan_of("[sweep]\nmatch = \"parameters\"\n" + additive, counted);
  // 2 d^2 more in each layer equals d = 64 features of the feed-forward layer: 256 becomes 192.
  CHECK(labels_of(p) == Labels{"reference", "score = dot", "score = additive, ffn width 192"});
  REQUIRE(p.arms[2].matched);
  CHECK(p.arms[2].matched->width == 192);
  CHECK(p.arms[2].matched->amount == p.arms[2].matched->target);
  CHECK(p.arms[2].changes == std::vector<PlannedChange>{{"attention.score", "additive"}, {"block.ffn_width", "192"}});
  CHECK(config_of(p.runs[2]).layers.at(1).block.ffn_width == 192);
  CHECK_FALSE(p.arms[0].matched);
  // An arm that already matches stays unchanged.
  CHECK(p.arms[1].matched->width == 256);
  CHECK(p.arms[1].changes == std::vector<PlannedChange>{{"attention.score", "dot"}});
  CHECK(p.runs[1].id == plan_of(additive, counted).runs[1].id);
  CHECK(p.hash != plan_of("[sweep]\n" + additive, counted).hash);
}

TEST_CASE("FLOPs may be evened out instead", "[sweep][match]") {
  const Plan p = plan_of("[sweep]\nmatch = \"flops\"\n[[sweep.block]]\ngrid = { \"model.heads\" = [8] }\n", counted);
  // 4e6 FLOPs are 100 x 2 layers x 2 d = 25 600 for each feature: 156.25 features.
  REQUIRE(p.arms[1].matched);
  CHECK(p.arms[1].matched->width == 256 - 156);
  CHECK(p.arms[1].matched->excess() == Approx(0.25 * 25600 / p.arms[1].matched->target));
}

TEST_CASE("what no width evens out is not hidden", "[sweep][match]") {
  const Plan p = plan_of("[sweep]\nmatch = \"parameters\"\n[[sweep.block]]\ngrid = { \"model.width\" = [256] }\n",
                         counted);
  REQUIRE(p.arms[1].matched);
  CHECK(p.arms[1].matched->width == 1);
  CHECK(p.arms[1].matched->excess() > matched_enough);
  CHECK(labels_of(p).at(1) == "width = 256, ffn width 1");
}

TEST_CASE("arms that can't be evened out are refused with the reason", "[sweep][match]") {
  const std::string match = "[sweep]\nmatch = \"parameters\"\n[[sweep.block]]\n";
  CHECK_THROWS_WITH(plan_of(match + "grid = { \"model.kind\" = [\"recurrent_decoder\"] }\n", counted),
                    Contains("test.toml:2:9") && Contains("model.kind = \"recurrent_decoder\" has none"));
  CHECK_THROWS_WITH(plan_of(match + "grid = { \"block.ffn_width\" = [32] }\n", counted),
                    Contains("test.toml:4:") && Contains("the arm sets block.ffn_width"));
  CHECK_THROWS_WITH(plan_of("[[block.override]]\nlayers = [0, 1]\nffn_width = 32\n" + match +
                                "grid = { \"attention.score\" = [\"additive\"] }\n",
                            counted),
                    Contains("every block has its own"));
}

TEST_CASE("the state may be evened out by the width of the model", "[sweep][match]") {
  const std::string match = "[model]\nwidth = 64\nheads = 4\n[sweep]\nmatch = \"state\"\n[[sweep.block]]\n";
  std::size_t asked = 0;
  const CostOf counting = [&](const Config& config) {
    ++asked;
    return stored(config);
  };
  // A recurrence has d^2 / 4 = 2 64 64: 181.02, and 4 heads need a multiple of 4.
  const Plan p = plan_of(match + "grid = { \"mixer.kind\" = [\"retention\"] }\n", counting);
  REQUIRE(p.arms[1].matched);
  CHECK(labels_of(p).at(1) == "mixer = retention, width 180");
  CHECK(p.arms[1].matched->width == 180);
  CHECK(p.arms[1].matched->target == 2 * 2 * 64 * 64);
  CHECK(p.arms[1].matched->amount == 2 * 180 * 180 / 4);
  CHECK(config_of(p.runs[1]).model.width == 180);
  CHECK(p.arms[1].changes == std::vector<PlannedChange>{{"mixer.kind", "retention"}, {"model.width", "180"}});
  CHECK(asked < 16);
  // With 2 heads d^2 / 2: 128 is exact. With one more block, a width of 128 / 3 is between 40 and 44.
  const Plan exact = plan_of(match + "grid = { \"mixer.kind\" = [\"retention\"], \"model.heads\" = [2] }\n", stored);
  CHECK(exact.arms[1].matched->width == 128);
  CHECK(exact.arms[1].matched->excess() == 0);
  const Plan deeper = plan_of(match + "grid = { \"model.layers\" = [3] }\n", stored);
  CHECK(deeper.arms[1].matched->width == 44);
  CHECK(deeper.arms[1].matched->excess() == Approx(3 * 44 / 128.0 - 1));
  // Equal already.
  const Plan equal = plan_of(match + "grid = { \"attention.score\" = [\"additive\"] }\n", stored);
  CHECK(equal.arms[1].matched->width == 64);
  CHECK(equal.arms[1].changes == std::vector<PlannedChange>{{"attention.score", "additive"}});
}

TEST_CASE("a state is not evened out where there is none, or where no width changes it", "[sweep][match]") {
  const std::string match = "[sweep]\nmatch = \"state\"\n[[sweep.block]]\n";
  CHECK_THROWS_WITH(plan_of(match + "grid = { \"attention.causal\" = [false] }\n", stored),
                    Contains("test.toml:2:9") && Contains("attention reads later tokens"));
  CHECK_THROWS_WITH(plan_of("[model]\nkind = \"encoder\"\n" + match + "grid = { \"attention.score\" = [\"dot\"] }\n",
                            [](const Config&) { return Cost(); }),
                    Contains("model.kind = \"encoder\" predicts a class"));
  CHECK_THROWS_WITH(plan_of(match + "grid = { \"model.width\" = [32] }\n", stored),
                    Contains("test.toml:4:") && Contains("the arm sets model.width"));
  const CostOf fixed = [](const Config& config) {
    Cost cost;
    cost.state_size = config.layers.front().attention.score == "additive" ? 200 : 100;
    return cost;
  };
  CHECK_THROWS_WITH(plan_of(match + "grid = { \"attention.score\" = [\"additive\"] }\n", fixed),
                    Contains("model.width does not change the size of the state"));
}

TEST_CASE("a matched plan comes back as it was", "[sweep][match]") {
  const Plan p = plan_of("[sweep]\nmatch = \"parameters\"\n" + additive, counted);
  const auto after = plan_from_json(to_json(p));
  REQUIRE(after);
  CHECK(after->match == "parameters");
  CHECK(after->arms[2].matched == p.arms[2].matched);
  CHECK(to_json(*after) == to_json(p));
}
