#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

#include <set>

using namespace heed;
using Catch::Contains;

namespace {

const std::string grouped = R"(
task.kind = "copy"
task.copy.length = 16
attention.score = "dot"
[sweep]
seeds = [0, 1]
within = "task.copy.length"
[[sweep.block]]
grid = { "attention.score" = ["dot", "additive", "cosine"], "task.copy.length" = [16, 8, 32] }
)";

std::string with(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

std::string group_refusal(const std::string& toml) {
  try {
    plan_of(toml);
  } catch (const Refused& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("arms with the same values of an option are a group with a reference of its own", "[sweep][groups]") {
  const Plan p = plan_of(grouped);
  CHECK(labels_of(p) == Labels{"length = 16: reference", "length = 16: score = additive", "length = 16: score = cosine",
                               "length = 8: reference", "length = 8: score = additive", "length = 8: score = cosine",
                               "length = 32: reference", "length = 32: score = additive",
                               "length = 32: score = cosine"});
  std::vector<std::size_t> references;
  for (const Arm& arm : p.arms) references.push_back(arm.reference);
  CHECK(references == std::vector<std::size_t>{0, 0, 0, 3, 3, 3, 6, 6, 6});
  CHECK(p.within == std::vector<PlannedOption>{{"task.copy.length", "length"}});
  CHECK(p.arms[4].group == std::vector<std::string>{"8"});
  CHECK(p.arms[4].name == "score = additive");
  for (std::size_t a = 0; a < p.arms.size(); ++a) {
    REQUIRE(p.arms[a].runs.size() == 2);
    const Config arm = config_of(p.runs[p.arms[a].runs[1]]);
    CHECK(arm.general.seed == 1);
    CHECK(std::to_string(std::get<std::int64_t>(arm.task_options.at("length"))) == p.arms[a].group.front());
  }
}

TEST_CASE("a group's reference is the file with the group's values, wherever it stands", "[sweep][groups]") {
  const Plan p = plan_of(with(grouped, R"(["dot", "additive", "cosine"], "task.copy.length" = [16, 8, 32])",
                              R"(["cosine"], "task.copy.length" = [8])") +
                         "[[sweep.block]]\ngrid = { \"task.copy.length\" = [8] }\n");
  CHECK(labels_of(p) == Labels{"length = 16: reference", "length = 8: reference", "length = 8: score = cosine"});
  CHECK(p.arms[2].reference == 1);
}

TEST_CASE("several options make a group for each combination", "[sweep][groups]") {
  const Plan p = plan_of(R"(
[sweep]
within = ["train.warmup", "train.learning_rate"]
[[sweep.block]]
grid = { "block.norm" = ["pre", "post"], "train.warmup" = [0, 10], "train.learning_rate" = [1e-3, 1e-2] }
)");
  REQUIRE(p.arms.size() == 8);
  CHECK(p.arms[0].label == "warmup = 0, learning rate = 0.001: reference");
  CHECK(p.arms[1].label == "warmup = 0, learning rate = 0.001: norm = post");
  std::set<std::size_t> references;
  for (const Arm& arm : p.arms) references.insert(arm.reference);
  CHECK(references.size() == 4);
}

TEST_CASE("a plan with groups reads back as it was", "[sweep][groups]") {
  const Plan p = plan_of(grouped);
  const auto again = plan_from_json(to_json(p));
  REQUIRE(again);
  CHECK(to_json(*again) == to_json(p));
  CHECK(again->arms[5].reference == 3);
  CHECK(p.hash != plan_of(with(grouped, "within = \"task.copy.length\"", "")).hash);
  CHECK_THAT(plan_from_json(with(to_json(p), "\"reference\": 3", "\"reference\": 1")).error,
             Contains("has no reference in its group"));
  CHECK_THAT(plan_from_json(with(to_json(p), "\"reference\": 3", "\"reference\": 99")).error,
             Contains("has no reference in its group"));
}

TEST_CASE("each group is evened out to its own reference", "[sweep][groups]") {
  // Parameters: the width of the feed-forward layer, and what the score and the length add.
  const auto cost_of = [](const Config& config) {
    Cost cost;
    const std::int64_t length = std::get<std::int64_t>(config.task_options.at("length"));
    const std::int64_t width = config.layers[0].block.ffn_width ? config.layers[0].block.ffn_width
                                                                : 4 * config.model.width;
    cost.parameters = 100 * width + 1000 * length + (config.layers[0].attention.score == "additive" ? 800 : 0);
    return cost;
  };
  const Plan p = plan_of(with(grouped, "seeds = [0, 1]", "seeds = [0, 1]\nmatch = \"parameters\""), cost_of);
  for (const Arm& arm : p.arms) {
    INFO(arm.label);
    const bool reference = arm.name == "reference";
    CHECK(arm.matched.has_value() == !reference);
    if (!reference) CHECK(arm.matched->target == 100 * 256 + 1000 * std::stod(arm.group.front()));
    if (!reference) CHECK(arm.matched->amount == arm.matched->target);
  }
}

TEST_CASE("what can't make groups is refused with its place", "[sweep][groups]") {
  CHECK_THAT(group_refusal(with(grouped, "\"task.copy.length\"\n", "\"task.copy.lenth\"\n")),
             Contains("test.toml:7") && Contains("sweep.within") && Contains("did you mean"));
  CHECK_THAT(group_refusal(with(grouped, "\"task.copy.length\"\n", "\"model.width\"\n")),
             Contains("test.toml:7:10") && Contains("which no arm of the sweep changes"));
  CHECK_THAT(group_refusal(with(grouped, "\"task.copy.length\"\n", "\"seed\"\n")), Contains("seeds are replicates"));
  CHECK_THAT(group_refusal(with(grouped, "\"task.copy.length\"\n", "3\n")), Contains("must be the name of an option"));
  CHECK_THAT(group_refusal(with(grouped, "\"task.copy.length\"\n", "[\"task.copy.length\", \"task.copy.length\"]\n")),
             Contains("twice"));
  CHECK_THAT(group_refusal(with(grouped, R"(["dot", "additive", "cosine"], "task.copy.length" = [16, 8, 32])",
                                R"(["cosine"], "task.copy.length" = [8])")),
             Contains("the group length = 8 has no reference") && Contains("\"task.copy.length\" = 8"));
  CHECK_THAT(group_refusal(grouped + "[[sweep.block]]\ngrid = { \"task.kind\" = [\"reverse\"] }\n"),
             Contains("has no effect in this arm") && Contains("task.kind = reverse"));
}
