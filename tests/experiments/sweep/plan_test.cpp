#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/sweep/labels.hpp"
#include "experiments/sweep/plan.hpp"

#include "experiments/runs/run_folder.hpp"
#include "experiments/runs/run_identity.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <algorithm>
#include <set>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string example = R"(
name = "which score"
[attention]
score = "scaled_dot"
[sweep]
seeds = [0, 1, 2]
[[sweep.block]]
grid = { "attention.score" = ["dot", "scaled_dot", "additive"] }
[[sweep.block]]
kind = "leave_one_out"
off.residual = { "block.residual" = "none" }
off.scale = { "attention.score" = "dot" }
)";

} // namespace

TEST_CASE("a file without a sweep is one run, the reference", "[sweep][plan]") {
  const Plan p = plan_of("seed = 5\nreport.metric = \"val_accuracy\"\n");
  CHECK_FALSE(p.sweep);
  CHECK(p.name == "test");
  CHECK(p.metric == "val_accuracy");
  CHECK(p.seeds == std::vector<std::int64_t>{5});
  CHECK(labels_of(p) == Labels{"reference"});
  REQUIRE(p.runs.size() == 1);
  CHECK(config_of(p.runs[0]).general.seed == 5);
  CHECK(p.runs[0].id == run_id(config_of(p.runs[0]), "data"));
}

TEST_CASE("blocks add up, equal arms are one, and what equals the reference is the reference", "[sweep][plan]") {
  const Plan p = plan_of(example);
  CHECK(p.sweep);
  CHECK(p.name == "which score");
  // scaled_dot is the reference; off.scale is the grid's dot.
  CHECK(labels_of(p) == Labels{"reference", "score = dot", "score = additive", "without residual"});
  CHECK(p.arms[0].changes.empty());
  CHECK(p.arms[2].changes == std::vector<PlannedChange>{{"attention.score", "additive"}});
  CHECK(p.arms[3].changes == std::vector<PlannedChange>{{"block.residual", "none"}});
}

TEST_CASE("every arm runs with every seed, whole replicates first", "[sweep][plan]") {
  const Plan p = plan_of(example);
  REQUIRE(p.runs.size() == 12);
  for (std::size_t i = 0; i < p.runs.size(); ++i) {
    CHECK(p.runs[i].seed == static_cast<std::int64_t>(i / 4));
    CHECK(p.runs[i].arm == i % 4);
    CHECK(config_of(p.runs[i]).general.seed == p.runs[i].seed);
  }
  CHECK(p.arms[1].runs == std::vector<std::size_t>{1, 5, 9});
  CHECK(config_of(p.runs[5]).layers.at(0).attention.score == "dot");
  std::set<std::string> ids;
  for (const PlannedRun& run : p.runs) ids.insert(run.id);
  CHECK(ids.size() == 12);
}

TEST_CASE("the resolved configurations beside a plan are what its texts say", "[sweep][plan]") {
  const auto same = [](const Config& resolved, const PlannedRun& run) {
    const Config read = config_of(run);
    CHECK(to_toml(resolved) == run.config);
    CHECK(flat_config(resolved) == flat_config(read));
    CHECK(run_id(resolved, "data") == run.id);
  };
  const std::string tuned =
      "\n[sweep.tune]\nseeds = [9]\ngrid = { \"train.learning_rate\" = [1e-3, 0.1, 0.30000000000000004] }\n";
  for (const std::string& toml : {example, example + tuned, std::string("seed = 7\n")}) {
    ResolvedArms resolved;
    const Plan p = make_plan(
        Settings::parse(toml, "test.toml"), [](const Config&) { return "data"; }, "test", {}, &resolved);
    REQUIRE(resolved.size() == p.arms.size());
    for (std::size_t a = 0; a < p.arms.size(); ++a) {
      if (!p.tuning) {
        REQUIRE(resolved[a].size() == 1);
        same(resolved[a][0], p.runs[p.arms[a].runs.front()]);
        continue;
      }
      const std::vector<Trial>& trials = p.tuning->arms[a].trials;
      REQUIRE(resolved[a].size() == trials.size());
      for (std::size_t t = 0; t < trials.size(); ++t) same(resolved[a][t], trials[t].replicates.front());
    }
  }
}

TEST_CASE("a grid crosses its axes, the last fastest", "[sweep][plan]") {
  const Plan p = plan_of(R"(
[[sweep.block]]
grid = { "attention.score" = ["scaled_dot", "dot"], "train.batch" = [16, 32, 64] }
)");
  CHECK(labels_of(p) == Labels{"reference", "batch = 16", "batch = 64", "score = dot, batch = 16", "score = dot",
                               "score = dot, batch = 64"});
}

TEST_CASE("a zip pairs its axes", "[sweep][plan]") {
  const Plan p = plan_of("[[sweep.block]]\nkind = \"zip\"\n"
                         "zip = { \"model.width\" = [32, 128], \"model.heads\" = [2, 8] }\n");
  CHECK(labels_of(p) == Labels{"reference", "width = 32, heads = 2", "width = 128, heads = 8"});
}

TEST_CASE("excluded combinations are left out", "[sweep][plan]") {
  const Plan p = plan_of(R"(
[[sweep.block]]
grid = { "attention.score" = ["scaled_dot", "dot"], "train.batch" = [16, 64] }
exclude = [{ "attention.score" = "dot", "train.batch" = 64 }]
)");
  CHECK(labels_of(p) == Labels{"reference", "batch = 16", "batch = 64", "score = dot, batch = 16"});

  SECTION("conditions may name what the arm does not change") {
    const Plan q = plan_of(R"(
[[sweep.block]]
grid = { "train.batch" = [16, 64] }
exclude = [{ "attention.score" = "scaled_dot", "train.batch" = 64 }]
)");
    CHECK(labels_of(q) == Labels{"reference", "batch = 16"});
  }
  SECTION("options of variants that are not chosen don't hold") {
    const Plan q = plan_of(R"(
[[sweep.block]]
grid = { "attention.score" = ["dot", "additive"] }
exclude = [{ "attention.cosine.temperature" = 10.0 }]
)");
    CHECK(q.arms.size() == 3);
  }
}

TEST_CASE("a block that leaves out everything is refused with its place", "[sweep][plan]") {
  CHECK_THROWS_WITH(plan_of(R"([[sweep.block]]
grid = { "train.batch" = [16] }
exclude = [{ "train.batch" = 16 }]
)"),
                    Contains("test.toml:1:") && Contains("excludes them all"));
}

TEST_CASE("labels put what belongs to a choice behind it", "[sweep][plan]") {
  const Plan p = plan_of(R"(
[[sweep.block]]
grid = { "position.kind" = ["sinusoidal", "learned"], "position.combine" = ["add", "concat"] }
[[sweep.block]]
grid = { "attention.score" = ["cosine"], "attention.cosine.temperature" = [1.0, 5.0] }
)");
  CHECK(labels_of(p) == Labels{"reference", "position = sinusoidal, concat", "position = learned",
                               "position = learned, concat", "score = cosine, temperature 1.0",
                               "score = cosine, temperature 5.0"});
}

TEST_CASE("options of one name are told apart by their tables", "[sweep][plan]") {
  const Plan p = plan_of(R"(
[[sweep.block]]
grid = { "block.dropout" = [0.1] }
[[sweep.block]]
grid = { "model.dropout" = [0.1] }
)");
  CHECK(labels_of(p) == Labels{"reference", "block.dropout = 0.1", "model.dropout = 0.1"});
}

TEST_CASE("seeds keep the order of the file", "[sweep][plan]") {
  const Plan p = plan_of("[sweep]\nseeds = [4, 2]\n");
  CHECK(p.seeds == std::vector<std::int64_t>{4, 2});
  CHECK(p.runs.size() == 2);
}

TEST_CASE("an arm that is not possible is refused, and named", "[sweep][plan]") {
  CHECK_THROWS_WITH(plan_of("[[sweep.block]]\ngrid = { \"model.heads\" = [2, 5] }\n"),
                    Contains("does not divide") && Contains("(in the sweep's arm model.heads = 5)"));
}

TEST_CASE("the data is asked for once for each task, and part of the identity", "[sweep][plan]") {
  int asked = 0;
  const Plan p = make_plan(
      Settings::parse("[sweep]\nseeds = [0, 1]\n[[sweep.block]]\ngrid = { \"attention.score\" = "
                      "[\"dot\", \"cosine\"] }\n[[sweep.block]]\ngrid = { \"task.seed\" = [7] }\n",
                      "test.toml"),
      [&](const Config& config) {
        ++asked;
        return std::to_string(config.task.seed);
      },
      "test");
  CHECK(p.runs.size() == 8);
  CHECK(asked == 2);
}

TEST_CASE("a sweep's hash is what it resolves to", "[sweep][plan]") {
  const Plan p = plan_of(example);
  CHECK(p.hash.size() == 12);
  CHECK(p.folder_name() == "which-score-" + p.hash);
  CHECK(plan_of("# a comment\n" + example).hash == p.hash);
  CHECK(plan_of(example + "off.norm = { \"block.norm\" = \"none\" }\n").hash != p.hash);
  Plan odd = p;
  odd.name = "../../a b\xc3\xa9/";
  CHECK(odd.folder_name() == "a-b-" + p.hash);
  odd.name = "...";
  CHECK(odd.folder_name() == "sweep-" + p.hash);
}

TEST_CASE("a frozen plan comes back as it was", "[sweep][plan]") {
  const Scratch out;
  Plan before = plan_of(example);
  CHECK_FALSE(planned_cost(before, 1));
  before.arms[1].cost = PlannedCost{.parameters = 103424, .flops_per_step = 2.5e9, .bytes = 2e7, .state_size = 4096};
  before.arms[2].cost = PlannedCost{.parameters = 7}; // also a plan of a version that did not count the state
  const fs::path folder = freeze(before, out.path);
  CHECK(folder == out.path / "sweeps" / before.folder_name());
  Plan after = load_plan(folder);
  REQUIRE(after.frozen);
  CHECK_THAT(after.frozen->at, Catch::Matches("20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"));
  CHECK(after.frozen->finished == 0);
  CHECK(after.frozen->runs == before.runs.size());
  after.frozen.reset();
  CHECK(to_json(after) == to_json(before));
  CHECK(after.arms[3].label == "without residual");
  CHECK(planned_cost(after, 1)->parameters == 103424);
  CHECK(planned_cost(after, 1)->flops_per_step == 2.5e9);
  CHECK(planned_cost(after, 1)->bytes == 2e7);
  CHECK(planned_cost(after, 1)->state_size == 4096);
  CHECK(planned_cost(after, 2)->parameters == 7);
  CHECK_FALSE(planned_cost(after, 2)->state_size);
  CHECK_FALSE(planned_cost(after, 0));
  CHECK(after.arms[1].runs == before.arms[1].runs);
  for (const PlannedRun& run : after.runs) CHECK(run_id(config_of(run), "data") == run.id);
}

TEST_CASE("another margin or question is another sweep of the same runs", "[sweep][plan]") {
  const Plan before = plan_of(example);
  const std::string asked = "\n[report]\nmargin = 0.05\nquestion = \"Which \\\"score\\\"?\"\n";
  const Plan with = plan_of(example + asked);
  CHECK_FALSE(before.margin);
  CHECK(before.question.empty());
  CHECK(with.margin == 0.05);
  CHECK(with.question == "Which \"score\"?");
  CHECK(with.hash != before.hash);
  for (std::size_t i = 0; i < before.runs.size(); ++i) CHECK(with.runs[i].id == before.runs[i].id);
  CHECK(plan_of(example + "\n[report]\nmargin = 0.1\n").hash != plan_of(example + "\n[report]\nmargin = 0.2\n").hash);
  CHECK(plan_of(example + "\n[report]\nmargin = \"none\"\n").hash == before.hash);

  const auto read = plan_from_json(to_json(with));
  REQUIRE(read);
  CHECK(read->margin == with.margin);
  CHECK(read->question == with.question);
  std::string edited = to_json(with);
  edited.replace(edited.find("0.05"), 4, "-1.0");
  CHECK_THAT(plan_from_json(edited).error, Contains("\"margin\" is not a number above 0"));
}

TEST_CASE("the test and what learning is are part of a plan, and of no run", "[sweep][plan]") {
  const Plan before = plan_of(example);
  const Plan with = plan_of(example + "\n[report]\ntest = \"unpaired\"\nlearned = 0.9\n");
  CHECK(before.test == "paired");
  CHECK_FALSE(before.learned);
  CHECK(with.test == "unpaired");
  CHECK(with.learned == 0.9);
  CHECK(plan_of(example + "\n[report]\ntest = \"unpaired\"\n").hash != before.hash);
  CHECK(plan_of(example + "\n[report]\nlearned = 0.9\n").hash != before.hash);
  CHECK(plan_of(example + "\n[report]\ntest = \"paired\"\nlearned = \"found\"\n").hash == before.hash);
  for (std::size_t i = 0; i < before.runs.size(); ++i) CHECK(with.runs[i].id == before.runs[i].id);
  const auto read = plan_from_json(to_json(with));
  REQUIRE(read);
  CHECK(read->test == "unpaired");
  CHECK(read->learned == 0.9);
  std::string edited = to_json(with);
  edited.replace(edited.find("unpaired"), 8, "unequal!");
  CHECK_THAT(plan_from_json(edited).error, Contains("\"test\" is neither paired nor unpaired"));
}

TEST_CASE("what a margin is for is part of a plan, and of no run", "[sweep][plan]") {
  const std::string margin = "\n[report]\nmargin = 0.05\n";
  const Plan before = plan_of(example + margin), with = plan_of(example + margin + "answer = \"not worse\"\n");
  CHECK_FALSE(before.asks_not_worse());
  CHECK(with.asks_not_worse());
  CHECK(with.hash != before.hash);
  CHECK(plan_of(example + margin + "answer = \"same\"\n").hash == before.hash);
  CHECK_THAT(to_json(before), !Contains("\"answer\""));
  for (std::size_t i = 0; i < before.runs.size(); ++i) CHECK(with.runs[i].id == before.runs[i].id);
  const auto read = plan_from_json(to_json(with));
  REQUIRE(read);
  CHECK(read->answer == "not worse");
  std::string edited = to_json(with);
  edited.replace(edited.find("not worse"), 9, "no better");
  CHECK_THAT(plan_from_json(edited).error, Contains("\"answer\" is not \"not worse\" with a margin"));
}

TEST_CASE("one answer over tasks is part of what is asked", "[sweep][plan]") {
  const std::string over = "[report]\nover = \"these tasks\"\n";
  const Plan before = plan_of(example), with = plan_of(example + over);
  CHECK_FALSE(before.answers_over_tasks());
  CHECK(with.answers_over_tasks());
  CHECK(with.hash != before.hash);
  CHECK(plan_of(example + over + "scale = \"chance to best\"\n").hash != with.hash);
  CHECK_THAT(to_json(before), !Contains("\"over\""));
  for (std::size_t i = 0; i < before.runs.size(); ++i) CHECK(with.runs[i].id == before.runs[i].id);
  const auto read = plan_from_json(to_json(plan_of(example + over + "scale = \"0.2, 1.5\"\n")));
  REQUIRE(read);
  CHECK(read->over == "these tasks");
  CHECK(read->scale == "0.2, 1.5");
  std::string edited = to_json(with);
  edited.replace(edited.find("these tasks"), 11, "those tasks");
  CHECK_THAT(plan_from_json(edited).error, Contains("\"over\" is neither these tasks nor tasks like these"));
  edited = to_json(with);
  edited.replace(edited.find("\"scale\": \"metric\""), 17, "\"scale\": \"metres\"");
  CHECK_THAT(plan_from_json(edited).error, Contains("or a number above 0 for each task"));
}

TEST_CASE("labels are of a sweep's arms, and of metrics that the report has", "[sweep][plan]") {
  const std::string labels = "[report.label]\nreference = \"ours\"\n";
  CHECK(plan_of(example + labels).labels == std::map<std::string, std::string>{{"reference", "ours"}});
  CHECK(plan_of(example + labels + "\"score = dot\" = \"dot\"\n").labels.size() == 2);
  CHECK_THROWS_WITH(plan_of(labels), Contains("names 'reference', which is neither a metric"));
  CHECK(plan_of("[report.label]\nval_accuracy = \"accuracy\"\n").labels.size() == 1);
  CHECK_THROWS_WITH(plan_of(example + "[report.label]\nval_accuracy = \"accuracy\"\n"),
                    Contains("names 'val_accuracy'"));
}

TEST_CASE("further metrics are part of what is asked", "[sweep][plan]") {
  const Plan without = plan_of("seed = 5\n"), with = plan_of("seed = 5\nreport.also = [\"val_accuracy\"]\n");
  CHECK(with.also == std::vector<std::string>{"val_accuracy"});
  CHECK(with.hash != without.hash);
  CHECK(with.runs.front().id == without.runs.front().id);
  const auto read = plan_from_json(to_json(with));
  REQUIRE(read);
  CHECK(read->also == with.also);
  CHECK(to_json(without).find("\"also\":") == std::string::npos);
}

TEST_CASE("a margin is a number above 0, in the metric's unit, or none", "[sweep][plan]") {
  CHECK_THROWS_WITH(plan_of("[report]\nmargin = 0\n"), Contains("report.margin"));
  CHECK_THROWS_WITH(plan_of("[report]\nmargin = \"small\"\n"), Contains("report.margin"));
}

TEST_CASE("runs of an arm are what each of its seeds resolves to by itself", "[sweep][plan]") {
  const std::string many = R"(
name = "seed = 0"
seed = 4
[task]
kind = "addition"
[sweep]
seeds = [0, 1, 10, 7, 1000000000000000, 99]
[[sweep.block]]
grid = { "attention.score" = ["dot", "additive"], "train.learning_rate" = [1e-3, 0.1] }
[[sweep.block]]
arms = [{ "model.kind" = "encoder_decoder", "model.layers" = 3 }, { "task.addition.digits" = 2 }]
)";
  const Settings settings = Settings::parse(many, "test.toml");
  const Plan p = plan_of(many);
  REQUIRE(p.arms.size() == 7);
  REQUIRE(p.runs.size() == 42);
  for (const PlannedRun& run : p.runs) {
    // Checks the run's own configuration text, also with a changed seed, independently of the code that made the plan.
    const Config config = Settings::parse(run.config, "run.toml").resolve();
    CHECK(config.general.seed == run.seed);
    CHECK(to_toml(config) == run.config);
    CHECK(run.id == run_id(config, "data"));
    const std::string& of_first = p.runs[p.arms[run.arm].runs.front()].config;
    Settings arm = Settings::parse(of_first, "run.toml");
    arm.override_with({"seed=" + std::to_string(run.seed)});
    CHECK(to_toml(arm.resolve()) == run.config);
  }
  CHECK(to_toml(settings.with({{"seed", Value(std::int64_t{10}), {}}}).resolve()) == p.runs[2 * 7].config);
}

namespace {

/// Two arms with 6000 seeds, as long as they may be and half as long.
const std::string long_sweep = "[attention]\nscore = \"dot\"\n[sweep]\nseeds = 6000\n[[sweep.block]]\n"
                               "grid = { \"attention.score\" = [\"additive\"] }\n";

} // namespace

TEST_CASE("a plan of very many runs holds each arm's configuration once, and reads as what it was", "[sweep][plan]") {
  const Plan p = plan_of(long_sweep);
  REQUIRE(p.runs.size() == 12000);
  const std::string text = to_json(p);
  CHECK_THAT(text.substr(0, 20), Contains("\"format\": 4"));
  CHECK(text.size() < 12000 * 100);
  const auto read = plan_from_json(text);
  REQUIRE(read);
  CHECK(read->hash == p.hash);
  REQUIRE(read->runs.size() == p.runs.size());
  for (std::size_t i = 0; i < p.runs.size(); ++i) {
    REQUIRE(read->runs[i].id == p.runs[i].id);
    REQUIRE(read->runs[i].seed == p.runs[i].seed);
    REQUIRE(read->runs[i].arm == p.runs[i].arm);
    REQUIRE(read->runs[i].config == p.runs[i].config);
  }
  CHECK(to_json(*read) == text);

  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string edited = text;
    REQUIRE(edited.find(from) != std::string::npos);
    edited.replace(edited.find(from), from.size(), to);
    return plan_from_json(edited).error;
  };
  CHECK_THAT(replaced("[train]", "[trail]"), Contains("a run's configuration was edited"));
  CHECK_THAT(replaced("\"seed\": 17}", "\"seed\": 16}"), Contains("it was edited"));
  CHECK_THAT(replaced("\"config\": [\"", "\"config\": [\"\", \""), Contains("does not have two parts"));
  CHECK_THAT(replaced("\"config\"", "\"confit\""), Contains("no \"config\""));
  for (std::size_t n = 1; n < text.size(); n += 100'003) CHECK_FALSE(plan_from_json(text.substr(0, n)));
}

TEST_CASE("a plan of very many runs that has each with its configuration still reads", "[sweep][plan]") {
  Plan p = plan_of(long_sweep);
  const std::string short_text = to_json(p);
  // One configuration differs from its arm's only in options that cannot change results, so none can be left out.
  std::string& config = p.runs[77].config;
  const std::size_t at = config.find("threads = ");
  REQUIRE(at != std::string::npos);
  config.insert(config.find('\n', at), "3");
  const std::string text = to_json(p);
  CHECK_THAT(text.substr(0, 20), Contains("\"format\": 3"));
  const auto read = plan_from_json(text);
  REQUIRE(read);
  CHECK(read->runs[77].config == config);
  CHECK(read->runs[76].config == plan_from_json(short_text)->runs[76].config);
  CHECK(read->hash == plan_from_json(short_text)->hash);
}

TEST_CASE("arms of one name are numbered", "[sweep][plan]") {
  const Plan p = plan_of("[[sweep.block]]\narms.wide = { \"model.width\" = 32 }\n"
                         "[[sweep.block]]\narms.wide = { \"model.width\" = 256 }\n"
                         "[[sweep.block]]\narms.wide = { \"model.width\" = 512 }\n");
  CHECK(labels_of(p) == Labels{"reference", "wide", "wide (2)", "wide (3)"});
}

TEST_CASE("names in plans read back as they are, whatever they hold", "[sweep][plan]") {
  Plan p = plan_of("[[sweep.block]]\narms.named = { \"model.width\" = 32 }\n");
  REQUIRE(p.arms.size() == 2);
  for (const std::string name :
       {"\x1b[31mred\x07", "\u009b2J \x7f", "\u202eturned", "two\nlines\tand\rmore", "\\x1b \" '", "\\u001b"}) {
    p.arms[1].label = name;
    p.question = name + "?";
    p.hash = hash_of(p);
    const std::string text = to_json(p);
    const auto read = plan_from_json(text);
    INFO(text);
    REQUIRE(read);
    CHECK(read->arms[1].label == name);
    CHECK(read->question == p.question);
    CHECK(to_json(*read) == text);
    CHECK(text.find_first_of("\x1b\x07\x7f\r\t") == std::string::npos);
    CHECK_THAT(text, !Contains("\u009b") && !Contains("\u202e"));
  }
}

TEST_CASE("a damaged plan is a clear error", "[sweep][plan]") {
  const std::string whole = to_json(plan_of(example));
  CHECK(plan_from_json(whole));
  CHECK_THAT(plan_from_json("").error, Contains("not JSON"));
  CHECK_THAT(plan_from_json("{}").error, Contains("no \"format\""));
  for (std::size_t n = 0; n + 2 < whole.size(); n += 37) CHECK_FALSE(plan_from_json(whole.substr(0, n)));

  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    text.replace(text.find(from), from.size(), to);
    return plan_from_json(text).error;
  };
  CHECK_THAT(replaced("\"format\": 3", "\"format\": 1"),
             Contains("has the format 1, and this version of Heed reads 3 and 4"));
  CHECK_THAT(replaced("\"arm\": 3", "\"arm\": 4"), Contains("belongs to arm 4 of 4"));
  CHECK_THAT(replaced("\"arm\": 3", "\"arm\": 2"), Contains("runs for 3 seeds"));
  CHECK_THAT(replaced("score = dot", "score = dit"), Contains("it was edited"));
  CHECK_THAT(replaced("\"id\": \"", "\"id\": \"../"), Contains("not the ID of a run"));
  CHECK_THAT(replaced("\"id\": \"", "\"id\": \"0"), Contains("not the ID of a run"));

  const Scratch out;
  const fs::path folder = freeze(plan_of(example), out.path);
  put(folder / "plan.json", whole.substr(0, 100));
  CHECK_THROWS_WITH(load_plan(folder),
                    Contains("plan.json' is damaged") && Contains("run the sweep's configuration again"));
  CHECK_THROWS_AS(load_plan(out.path), Refused);
}

TEST_CASE("a plan keeps the time at which it was frozen first, and an edited one is refused", "[sweep][plan]") {
  const Scratch out;
  Plan first = plan_of(example);
  const fs::path folder = freeze(first, out.path);
  std::string text = content(folder / "plan.json");
  const std::string at = load_plan(folder).frozen->at;
  first.arms[0].cost = PlannedCost{.parameters = 7}; // written again
  freeze(first, out.path);
  CHECK(load_plan(folder).frozen->at == at);
  CHECK(planned_cost(load_plan(folder), 0)->parameters == 7);

  const std::string year = at.substr(0, 4);
  text.replace(text.find("\"at\": \"" + year) + 7, 4, "1999");
  CHECK_THAT(plan_from_json(text).error, Contains("its \"frozen\" was edited"));
}

TEST_CASE("an edit of what no other hash covers is seen, and so is a checksum that was removed", "[sweep][plan]") {
  const Scratch out;
  const bool tuned = GENERATE(false, true);
  Plan plan = plan_of(tuned ? example + "[sweep.tune]\nseeds = [7]\n"
                                        "grid = { \"train.learning_rate\" = [0.001, 0.01] }\n"
                            : example);
  const PlannedCost cost{.parameters = 71, .flops_per_step = 8.25e10, .bytes = 93};
  plan.arms[1].matched = BudgetMatch{17, 70.5, 71};
  if (tuned) plan.tuning->arms[1].trials[0].cost = cost;
  else plan.arms[1].cost = cost;
  const fs::path folder = freeze(plan, out.path, "avx2");
  freeze(plan, out.path, "avx2");
  const std::string whole = content(folder / "plan.json");
  REQUIRE(plan_from_json(whole));
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    REQUIRE(text.find(from) != std::string::npos);
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  CHECK_THAT(plan_from_json(whole.substr(0, whole.find(",\n\"checksum\"")) + "\n}\n").error,
             Contains("no \"checksum\""));
  const std::vector<std::pair<std::string, std::string>> edits{{"\"name\": \"which score\"", "\"name\": \"why score\""},
                                                               {"\"parameters\": 71", "\"parameters\": 70"},
                                                               {"82500000000", "82500000001"},
                                                               {"\"bytes\": 93", "\"bytes\": 94"},
                                                               {"\"width\": 17", "\"width\": 18"},
                                                               {"\"amount\": 70.5", "\"amount\": 70.25"},
                                                               {"\"sweep\": true", "\"sweep\": false"},
                                                               {"\"kernels\": \"avx2\"", "\"kernels\": \"avx512\""}};
  for (const auto& [from, to] : edits) {
    INFO(from);
    CHECK_THAT(plan_from_json(replaced(whole, from, to)).error, Contains("its checksum is") && Contains("was edited"));
  }
  CHECK_THAT(plan_from_json(replaced(whole, "\"avx2\"", "\"--tell\"")).error, Contains("is not the name of kernels"));
}

TEST_CASE("a plan keeps the kernels that it had first", "[sweep][plan]") {
  const Scratch out;
  const Plan first = plan_of(example);
  const fs::path folder = freeze(first, out.path);
  CHECK(load_plan(folder).frozen->kernels.empty());
  freeze(first, out.path, "avx2"); // it had none
  CHECK(load_plan(folder).frozen->kernels == "avx2");
  freeze(first, out.path, "avx512");
  CHECK(load_plan(folder).frozen->kernels == "avx2");
}

TEST_CASE("a plan of a version that kept no time has none, and gets none", "[sweep][plan]") {
  const Scratch out;
  const Plan first = plan_of(example);
  fs::create_directories(out.path / "sweeps" / first.folder_name());
  put(out.path / "sweeps" / first.folder_name() / "plan.json", to_json(first));
  CHECK_FALSE(load_plan(freeze(first, out.path)).frozen);
}

TEST_CASE("the latest sweep is the one that was last frozen", "[sweep][plan]") {
  const Scratch out;
  CHECK_THROWS_WITH(find_sweep(out.path, {}), Contains("there are no sweeps"));
  const auto age = [](const fs::path& folder, int hours) {
    fs::last_write_time(folder / "plan.json", fs::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  const Plan first = plan_of(example), second = plan_of("name = \"other\"\n");
  const fs::path a = freeze(first, out.path), b = freeze(second, out.path);
  age(a, 2);
  age(b, 1);
  CHECK(find_sweep(out.path, {}) == b);
  freeze(first, out.path);
  CHECK(find_sweep(out.path, {}) == a);
  CHECK(sweep_folders(out.path) == std::vector<fs::path>{a, b});

  CHECK(find_sweep(out.path, "other") == b);
  CHECK(find_sweep(out.path, "oth") == b);
  CHECK(find_sweep(out.path, a.filename().string()) == a);
  CHECK(find_sweep("elsewhere", a.string()) == a);
  CHECK_THROWS_WITH(find_sweep(out.path, "othr"), Contains("no such sweep") && Contains("did you mean other?"));
  CHECK(find_sweep(out.path, "which score") == a); // the name in the configuration
  CHECK(find_sweep(out.path, "which-score") == a);
  CHECK_THROWS_WITH(find_sweep(out.path, "which: score"), Contains("no such sweep"));
}

TEST_CASE("planned looks are part of what is asked, and come back", "[sweep][plan]") {
  const auto with = [](const std::string& looks, const std::string& more = "") {
    return plan_of("[sweep]\nseeds = 10\n" + looks + "\n[[sweep.block]]\ngrid = { \"attention.score\" = [\"dot\"] }\n" +
                   more);
  };
  const Plan none = with(""), two = with("looks = [6, 10]");
  CHECK(with("looks = []").hash == none.hash);
  CHECK(to_json(none).find("looks") == std::string::npos);
  CHECK(two.looks == std::vector<std::size_t>{6, 10});
  CHECK(two.hash != none.hash);
  CHECK(with("looks = [7, 10]").hash != two.hash);
  CHECK(run_ids(two) == run_ids(none)); // the plans share their runs
  const auto read = plan_from_json(to_json(two));
  REQUIRE(read);
  CHECK(read->looks == two.looks);
  CHECK(hash_of(*read) == two.hash);

  const auto edited = [&](const std::string& looks) {
    std::string text = to_json(two);
    const std::string was = "\"looks\": [6, 10]";
    return plan_from_json(text.replace(text.find(was), was.size(), "\"looks\": " + looks)).error;
  };
  CHECK_THAT(edited("[6, 9]"), Contains("the last of \"looks\" is not of all seeds"));
  CHECK_THAT(edited("[7, 10]"), Contains("it was edited"));
  CHECK_THAT(edited("[10, 6]"), Contains("not rising"));
  CHECK_THAT(edited("[-6, 10]"), Contains("not rising"));
  CHECK_THAT(edited("[6, 6, 10]"), Contains("not rising"));
  CHECK_THAT(edited("[1, 10]"), Contains("not rising"));
  CHECK_THAT(edited("[2, 10]"), Contains("it was edited"));
}

TEST_CASE("looks that can't find anything are refused, with how to mend them", "[sweep][plan]") {
  const auto refused = [](const std::string& sweep, const std::string& more = "") {
    try {
      plan_of("[sweep]\n" + sweep + "\n[[sweep.block]]\ngrid = { \"attention.score\" = [\"dot\"] }\n" + more);
    } catch (const Refused& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused("seeds = 10\nlooks = [6, 10]").empty());
  CHECK(refused("seeds = 10\nlooks = [10]").empty());
  CHECK_THAT(refused("seeds = 9\nlooks = [6, 10]"),
             Contains("test.toml:3:9: [sweep] looks ends at 10 seeds, and there are 9"));
  CHECK_THAT(refused("seeds = 10\nlooks = [6, 8]"), Contains("looks ends at 8 seeds, and there are 10"));
  // 0.05 ln(1 + (e - 1) 6 / 20) = 0.0208, below 2^-5.
  CHECK_THAT(
      refused("seeds = 20\nlooks = [6, 20]"),
      Contains(
          "[sweep] looks: with 6 seeds, p is at least 0.031, and of the looks at 6, 20 seeds, the one at 6 may use "
          "only 0.021; with 20 seeds, the first look can be at 7: looks = [7, 20]"));
  CHECK_THAT(refused("seeds = 7\nlooks = [6, 7]"),
             Contains("the one at 7 may use only 0.0047") && // below 2^-6
                 Contains("7 seeds are too few for two looks; remove looks, or take sweep.seeds = 8 with looks = "
                          "[6, 8]"));
  // One-sided, five seeds can go to 2^-5.
  CHECK_FALSE(refused("seeds = 8\nlooks = [5, 8]").empty());
  CHECK(refused("seeds = 8\nlooks = [5, 8]", "[report]\nmargin = 0.1\nanswer = \"not worse\"\n").empty());
  // Unpaired, four runs of each can go to 2 / 70 = 0.029.
  CHECK_FALSE(refused("seeds = 8\nlooks = [4, 8]").empty());
  CHECK(refused("seeds = 8\nlooks = [4, 8]", "[report]\ntest = \"unpaired\"\n").empty());
  CHECK_THAT(refused("seeds = 8\nlooks = [4, 8]",
                     "[[sweep.block]]\ngrid = { \"model.heads\" = [1, 2] }\n[report]\ntest = "
                     "\"unpaired\"\n"),
             Contains("with 4 seeds, p is at least")); // of several arms
}
