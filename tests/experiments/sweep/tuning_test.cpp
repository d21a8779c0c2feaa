// Tests of tuned sweeps: the content of their plan, how arms choose a trial, and what is stored. The tests write the
// run folders.
#include "experiments/config/config.hpp"
#include "experiments/sweep/tuning.hpp"

#include "experiments/runs/metrics_file.hpp"
#include "experiments/runs/run_folder.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/lease.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/sweep/plan_support.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <fmt/format.h>
#include <set>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

const std::string tuned = R"(
name = "tuned"
[sweep]
seeds = [0, 1, 2]
[sweep.tune]
seeds = [100, 101]
grid = { "train.learning_rate" = [1e-3, 3e-3, 1e-2] }
[[sweep.block]]
grid = { "attention.score" = ["additive"] }
)";

void finish(const fs::path& out, const PlannedRun& run, double loss, double accuracy = 0.5) {
  const RunFolder folder = prepare_run(out, run.id, run.config);
  put(folder.manifest(), "{\"format\": 1, \"run\": \"" + run.id + "\", \"outcome\": \"finished\"}");
  append_metrics(folder, {10, 1.0, 100, {{"val_loss", loss}, {"val_accuracy", accuracy}}});
}

void fail(const fs::path& out, const PlannedRun& run) {
  const RunFolder folder = prepare_run(out, run.id, run.config);
  put(folder.manifest(),
      R"({"format": 1, "run": ")" + run.id + R"(", "outcome": "failed", "failure": "the loss is NaN"})");
}

/// Losses by arm and trial: the mean of two seeds, which lie 0.1 above and below it.
void finish_all(const Plan& plan, const fs::path& out, const std::vector<std::vector<double>>& losses) {
  for (std::size_t a = 0; a < losses.size(); ++a)
    for (std::size_t t = 0; t < losses[a].size(); ++t) {
      const Trial& trial = plan.tuning->arms[a].trials[t];
      finish(out, plan.tuning->runs[trial.runs[0]], losses[a][t] - 0.1);
      finish(out, plan.tuning->runs[trial.runs[1]], losses[a][t] + 0.1);
    }
}

} // namespace

TEST_CASE("each arm, the reference too, tries the whole grid with seeds of its own", "[sweep][tuning]") {
  const Plan p = plan_of(tuned);
  REQUIRE(p.tuning);
  CHECK(p.tuning->seeds == std::vector<std::int64_t>{100, 101});
  REQUIRE(p.tuning->arms.size() == 2);
  CHECK(p.tuning->runs.size() == 2 * 3 * 2);
  std::set<std::string> ids;
  for (std::size_t a = 0; a < 2; ++a) {
    REQUIRE(p.tuning->arms[a].trials.size() == 3);
    for (const Trial& trial : p.tuning->arms[a].trials) {
      REQUIRE(trial.runs.size() == 2);
      for (const std::size_t run : trial.runs) {
        CHECK(p.tuning->runs[run].arm == a);
        ids.insert(p.tuning->runs[run].id);
      }
      for (const PlannedRun& run : trial.replicates) ids.insert(run.id);
    }
  }
  CHECK(ids.size() == 12 + 2 * 3 * 3);
  const PlannedRun& second = p.tuning->runs[p.tuning->arms[1].trials[2].runs[1]];
  CHECK(config_of(second).train.learning_rate == 1e-2);
  CHECK(config_of(second).general.seed == 101);
  CHECK(config_of(second).layers.at(0).attention.score == "additive");
  // Only the arm and seed of the replicates are known.
  CHECK_FALSE(p.tuning->settled());
  REQUIRE(p.runs.size() == 6);
  for (const PlannedRun& run : p.runs) CHECK(run.id.empty());
  CHECK(p.arms[1].runs == std::vector<std::size_t>{1, 3, 5});
}

TEST_CASE("a seed that replicates use, or an option that is compared, can't be tuned with", "[sweep][tuning]") {
  CHECK_THROWS_WITH(plan_of("[sweep]\nseeds = [0, 1]\n[sweep.tune]\nseeds = [1]\ngrid.\"train.clip\" = [0, 1]\n"),
                    Contains("test.toml:3:1") && Contains("seeds has 1, which is also one of the replicates'"));
  CHECK_THROWS_WITH(plan_of("seed = 4\n[sweep.tune]\nseeds = [4]\ngrid.\"train.clip\" = [0, 1]\n"),
                    Contains("seeds has 4"));
  CHECK_THROWS_WITH(plan_of("[sweep.tune]\nseeds = [4]\n"), Contains("test.toml:1:1") && Contains("give it a grid"));
  CHECK_THROWS_WITH(plan_of("[sweep.tune]\ngrid.\"train.clip\" = [0, 1]\n"), Contains("has no seeds"));
  CHECK_THROWS_WITH(plan_of("[sweep.tune]\nseeds = [4]\ngrid.\"train.clip\" = [0, 1]\n[[sweep.block]]\n"
                            "grid = { \"train.clip\" = [2.0] }\n"),
                    Contains("test.toml:3:22") && Contains("which an arm of the sweep also changes (test.toml:5:26)"));
  CHECK_THROWS_WITH(plan_of("[sweep.tune]\nseeds = [4]\ngrid.\"train.adamw.beta1\" = [0.8, 0.9]\n[[sweep.block]]\n"
                            "grid = { \"train.optimizer\" = [\"sgd\"] }\n"),
                    Contains("in [sweep.tune], the arm \"optimizer = sgd\""));
}

TEST_CASE("an arm takes the best mean, whatever the others take", "[sweep][tuning]") {
  const Scratch out;
  Plan p = plan_of(tuned);
  const fs::path folder = freeze(p, out.path);
  const std::string hash = p.hash;
  finish_all(p, out.path, {{2.0, 1.5, 1.7}, {1.9, 1.8, 1.6}});
  for (ArmTuning& arm : p.tuning->arms)
    for (std::size_t t = 0; t < arm.trials.size(); ++t)
      arm.trials[t].cost = PlannedCost{.parameters = static_cast<std::int64_t>(t)};
  CHECK(planned_cost(p, 0)->parameters == 0); // of the first trial, as long as there is no choice
  settle(p, out.path, folder);
  CHECK(p.tuning->settled());
  CHECK(planned_cost(p, 0)->parameters == 1);
  CHECK(planned_cost(p, 1)->parameters == 2);
  CHECK(p.tuning->arms[0].chosen == 1U);
  CHECK(p.tuning->arms[1].chosen == 2U);
  CHECK(p.tuning->arms[0].trials[1].value == Approx(1.5));
  REQUIRE(p.runs.size() == 6);
  CHECK(p.runs[2].id == p.tuning->arms[0].trials[1].replicates[1].id);
  CHECK(config_of(p.runs[0]).train.learning_rate == 3e-3);
  CHECK(config_of(p.runs[1]).train.learning_rate == 1e-2);
  CHECK(config_of(p.runs[5]).general.seed == 2);
  CHECK(hash_of(p) == hash);

  SECTION("the choice is kept beside the plan") {
    Plan after = load_plan(folder);
    CHECK(after.tuning->arms[1].chosen == 2U);
    CHECK(after.tuning->arms[1].trials[0].value == p.tuning->arms[1].trials[0].value);
    for (std::size_t i = 0; i < p.runs.size(); ++i) CHECK(after.runs[i].id == p.runs[i].id);
    after.frozen.reset();
    CHECK(to_json(after) == to_json(plan_of(tuned)));
  }
  SECTION("other results later change nothing of it") {
    for (const PlannedRun& run : p.tuning->runs) fs::remove_all(out.path / run.id);
    finish_all(p, out.path, {{1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}});
    Plan after = load_plan(folder);
    look_at_trials(after, out.path);
    CHECK(after.tuning->arms[0].chosen == 1U);
  }
  SECTION("where it is gone, the same results give the same bytes") {
    const std::string before = content(folder / "tuned.json");
    fs::remove(folder / "tuned.json");
    Plan again = load_plan(folder);
    CHECK_FALSE(again.tuning->settled());
    settle(again, out.path, folder);
    CHECK(content(folder / "tuned.json") == before);
  }
  SECTION("where its choice is not the best of its values, or they are others, it is refused") {
    const std::string whole = content(folder / "tuned.json");
    const auto edited = [&](const std::string& what, const std::string& by) {
      std::string text = whole;
      const auto at = text.find(what);
      REQUIRE(at != std::string::npos);
      put(folder / "tuned.json", text.replace(at, what.size(), by));
    };
    edited("\"chosen\": 1", "\"chosen\": 0");
    CHECK_THROWS_WITH(load_plan(folder), Contains("trial 0 is chosen, but trial 1 has the best value"));
    edited("\"value\": 2", "\"value\": 3"); // the choice remains the best
    CHECK_THROWS_WITH(load_plan(folder), Contains("another checksum") && Contains("remove it"));
  }
  SECTION("where it is damaged, it is refused with the way out") {
    for (const std::string& bad : {std::string("{"), std::string("{\"format\": 1, \"plan\": \"x\", \"arms\": []}"),
                                   std::string("{\"format\": 2}")}) {
      put(folder / "tuned.json", bad);
      CHECK_THROWS_WITH(load_plan(folder), Contains("tuned.json' is damaged") && Contains("remove it"));
    }
  }
}

TEST_CASE("choices read back to the last bit, so that their checksum fits", "[sweep][tuning]") {
  const Scratch out;
  Plan p = plan_of(tuned);
  const fs::path folder = freeze(p, out.path);
  for (const PlannedRun& run : p.tuning->runs) finish(out.path, run, run.seed == 100 ? 1.0 : 1.039);
  settle(p, out.path, folder);
  CHECK(content(folder / "tuned.json").find("1.0194999999999999") != std::string::npos);
  CHECK(load_plan(folder).tuning->arms[0].trials[0].value == (1.0 + 1.039) / 2);
}

TEST_CASE("of equal trials the first is taken, and accuracies are better when higher", "[sweep][tuning]") {
  const Scratch out;
  Plan p = plan_of("report.metric = \"val_accuracy\"\n" + tuned);
  const fs::path folder = freeze(p, out.path);
  for (const PlannedRun& run : p.tuning->runs) finish(out.path, run, 1.0, run.arm == 0 ? 0.25 : 0.75);
  const Trial& third = p.tuning->arms[1].trials[2];
  for (const std::size_t run : third.runs) {
    fs::remove_all(out.path / p.tuning->runs[run].id);
    finish(out.path, p.tuning->runs[run], 5.0, 0.875);
  }
  settle(p, out.path, folder);
  CHECK(p.tuning->arms[0].chosen == 0U);
  CHECK(p.tuning->arms[1].chosen == 2U);
}

TEST_CASE("a trial that fails is out, and an arm without any is told", "[sweep][tuning]") {
  const Scratch out;
  Plan p = plan_of(tuned);
  const fs::path folder = freeze(p, out.path);
  finish_all(p, out.path, {{2.0, 1.5, 1.2}, {1.9, 1.8, 1.6}});
  const auto& trials = p.tuning->arms[0].trials;
  fs::remove_all(out.path / p.tuning->runs[trials[2].runs[1]].id);
  look_at_trials(p, out.path);
  CHECK_FALSE(p.tuning->arms[0].chosen); // one run is missing
  CHECK(p.tuning->arms[1].chosen == 2U);
  CHECK_THAT(tuning_in_words(*p.tuning, 0), Contains("0.01 (not done); 2 of 3 trials are done"));
  CHECK_FALSE(settle(p, out.path, folder));
  CHECK_FALSE(fs::exists(folder / "tuned.json"));

  const PlannedRun& stopped = p.tuning->runs[trials[2].runs[1]];
  put(prepare_run(out.path, stopped.id, stopped.config).manifest(),
      "{\"format\": 1, \"run\": \"" + stopped.id + "\", \"outcome\": \"interrupted\"}");
  look_at_trials(p, out.path);
  CHECK_FALSE(p.tuning->arms[0].chosen); // it will be resumed
  fs::remove_all(out.path / stopped.id);

  // A failed seed is not final while another seed runs, because it may be retried.
  const PlannedRun &first = p.tuning->runs[trials[2].runs[0]], &second = p.tuning->runs[trials[2].runs[1]];
  fs::remove_all(out.path / first.id);
  fail(out.path, first);
  look_at_trials(p, out.path);
  CHECK(trials[2].problem.empty());
  fs::remove_all(out.path / first.id);
  finish(out.path, first, 1.1);
  finish(out.path, second, 1.3);
  {
    Plan again = load_plan(folder);
    look_at_trials(again, out.path);
    CHECK(again.tuning->arms[0].chosen == 2U);
  }
  fs::remove_all(out.path / second.id);

  fail(out.path, p.tuning->runs[trials[2].runs[1]]);
  look_at_trials(p, out.path);
  CHECK(p.tuning->arms[0].chosen == 1U);
  CHECK_THAT(tuning_in_words(*p.tuning, 0),
             Contains("0.003 (1.5)") && Contains("0.01 (seed 101 failed: the loss is NaN)") && Contains("chose 0.003"));

  Plan q = plan_of("name = \"other\"\nmodel.layers = 1\n" + tuned.substr(tuned.find("[sweep]")));
  const fs::path other = freeze(q, out.path);
  for (const PlannedRun& run : q.tuning->runs) fail(out.path, run);
  CHECK_THROWS_WITH(settle(q, out.path, other),
                    Contains("the arm \"reference\": none of its trials") && Contains("the loss is NaN"));
}

TEST_CASE("nothing is chosen while a trial's folder can't be trusted", "[sweep][tuning]") {
  const Scratch out;
  Plan p = plan_of(tuned);
  const fs::path folder = freeze(p, out.path);
  finish_all(p, out.path, {{2.0, 1.5, 1.2}, {1.9, 1.8, 1.6}});
  const RunFolder run{out.path / p.tuning->runs[p.tuning->arms[0].trials[2].runs[1]].id};

  SECTION("its metrics were removed: the run is not finished any more, and is done again") {
    put(run.manifest(), "{\"format\": 1, \"run\": \"" + run.id() + "\", \"outcome\": \"finished\", \"step\": 10}");
    fs::remove(out.path / run.id() / "metrics.jsonl");
    CHECK_FALSE(settle(p, out.path, folder));
    CHECK_THAT(tuning_in_words(*p.tuning, 0), Contains("0.01 (not done); 2 of 3 trials are done"));
  }
  SECTION("its configuration was removed, or its manifest is another run's") {
    const bool removed = GENERATE(true, false);
    if (removed) fs::remove(out.path / run.id() / "config.toml");
    else put(run.manifest(), R"({"format": 1, "run": "0123456789abcdef", "outcome": "finished"})");
    const std::string why = removed ? "it has no config.toml" : "its manifest.json is that of run 0123456789abcdef";
    CHECK_THROWS_WITH(settle(p, out.path, folder),
                      Contains("the arm \"reference\": a trial's run can't be used. '" + run.path.string() + "': ") &&
                          Contains(why) && Contains("Remove its folder and run again"));
    CHECK_THAT(tuning_in_words(*p.tuning, 0), Contains(why) && Contains("2 of 3 trials are done"));
  }
  CHECK_FALSE(p.tuning->arms[0].chosen);
  CHECK_FALSE(fs::exists(folder / "tuned.json"));
}

TEST_CASE("a choice on the grid's edge says so, for numbers alone", "[sweep][tuning]") {
  const TunedOption rate{"train.learning_rate", {"0.003", "0.001", "0.01"}, true};
  CHECK(on_edge(rate, "0.001"));
  CHECK(on_edge(rate, "0.01"));
  CHECK_FALSE(on_edge(rate, "0.003"));
  CHECK_FALSE(on_edge({"train.clip", {"1"}, true}, "1"));
  CHECK(on_edge({"train.clip", {"1", "0"}, true}, "1"));
  CHECK_FALSE(on_edge({"train.schedule", {"cosine", "linear"}, false}, "linear"));

  const Scratch out;
  Plan p = plan_of(tuned);
  finish_all(p, out.path, {{1.0, 1.5, 1.2}, {1.9, 1.2, 1.6}});
  look_at_trials(p, out.path);
  CHECK_THAT(tuning_in_words(*p.tuning, 0), Contains("chose 0.001, at the edge of the grid"));
  CHECK_THAT(tuning_in_words(*p.tuning, 1), Contains("chose 0.003") && !Contains("edge"));
}

TEST_CASE("tuning crosses its options, and goes with evened-out arms", "[sweep][tuning]") {
  const Plan p = plan_of("[sweep.tune]\nseeds = [9]\ngrid = { \"train.learning_rate\" = [1e-3, 1e-2], \"train.clip\" = "
                         "[0.0, 1.0] }\n");
  REQUIRE(p.tuning->arms.at(0).trials.size() == 4);
  CHECK(p.tuning->arms[0].trials[1].point ==
        std::vector<PlannedChange>{{"train.learning_rate", "0.001"}, {"train.clip", "1.0"}});
  CHECK(short_words(p.tuning->arms[0].trials[1]) == "learning_rate = 0.001, clip = 1.0");
  CHECK_THROWS_WITH(plan_of("[sweep]\nmatch = \"flops\"\n[sweep.tune]\nseeds = [9]\n"
                            "grid.\"block.ffn_width\" = [8, 16]\n"),
                    Contains("which sweep.match sets"));
}

TEST_CASE("of two processes that settle, the second takes the first one's choice", "[sweep][tuning]") {
  const Scratch out;
  Plan one = plan_of(tuned), other = one;
  const fs::path folder = freeze(one, out.path);
  finish_all(one, out.path, {{2.0, 1.5, 1.7}, {1.9, 1.8, 1.6}});
  {
    const auto held = Lease::attempt(file_of_sweep(folder, "claim"));
    CHECK_FALSE(settle(one, out.path, folder, [] { return true; }));
  }
  REQUIRE(settle(one, out.path, folder));
  const std::string kept = content(folder / "tuned.json");
  for (const PlannedRun& run : one.tuning->runs) fs::remove_all(out.path / run.id);
  finish_all(one, out.path, {{1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}});
  REQUIRE(settle(other, out.path, folder));
  CHECK(other.tuning->arms[0].chosen == 1U);
  CHECK(other.runs[1].id == one.runs[1].id);
  CHECK(content(folder / "tuned.json") == kept);
}

TEST_CASE("a process that loses the lease while it settles leaves the choice to the next owner", "[sweep][tuning]") {
  const Scratch out;
  Plan p = plan_of(tuned);
  const fs::path folder = freeze(p, out.path);
  finish_all(p, out.path, {{2.0, 1.5, 1.7}, {1.9, 1.8, 1.6}});
  const fs::path claim = file_of_sweep(folder, "claim").path();
  {
    const ReadHook hook([&](const fs::path& path) {
      if (path.filename() == "metrics.jsonl") fs::remove(claim); // as if the lease had expired
      return 0;
    });
    CHECK_FALSE(settle(p, out.path, folder));
  }
  CHECK_FALSE(fs::exists(folder / "tuned.json"));
  CHECK(settle(p, out.path, folder));
  CHECK(fs::exists(folder / "tuned.json"));
}

TEST_CASE("a plan that was edited is refused, wherever", "[sweep][tuning]") {
  const Plan plan = plan_of(tuned);
  const std::string whole = to_json(plan);
  REQUIRE(plan_from_json(whole));
  const auto edited = [&](const std::string& what, const std::string& by) {
    std::string text = whole;
    const auto at = text.find(what);
    REQUIRE(at != std::string::npos);
    return plan_from_json(text.replace(at, what.size(), by)).error;
  };
  const std::string point = R"({"point": [{"key": "train.learning_rate", "value": "0.001"}])";
  CHECK_THAT(edited(point, R"({"point": [])"), Contains("a trial's point"));
  CHECK_THAT(edited(point, R"({"point": [{"key": "train.clip", "value": "0.001"}])"), Contains("a trial's point"));
  CHECK_THAT(edited(point, point.substr(0, point.size() - 1) + R"(, {"key": "train.clip", "value": "1"}])"),
             Contains("a trial's point"));
  CHECK_THAT(edited(point, R"({"point": [{"key": "train.learning_rate", "value": "0.5"}])"),
             Contains("a trial's point"));
  CHECK_THAT(edited(R"("values": ["0.001", )", R"("values": ["0.001", "7", )"), Contains("it was edited"));
  CHECK_THAT(edited(R"("ordered": true)", R"("ordered": false)"), Contains("it was edited"));
  CHECK_THAT(edited(R"("match": "none")", R"("match": "flops")"), Contains("it was edited"));
  CHECK_THAT(edited(R"("runs": [0, 6])", R"("runs": [1, 6])"), Contains("does not belong to just one trial"));
  const std::size_t runs = plan.tuning->runs.size();
  CHECK_THAT(edited(R"("runs": [0, 6])", fmt::format(R"("runs": [0, {}])", runs)),
             Contains(fmt::format("a trial has run {0} of {0}", runs)));
  CHECK_THAT(edited(R"("runs": [0, 6])", R"("runs": [-1, 6])"), Contains("a trial has run -1"));
  CHECK_THAT(edited("steps = ", "steps = 1"), Contains("a run's configuration was edited"));
  CHECK_THAT(edited(R"("options": [)", R"("options": [], "others": [)"), Contains("no options"));
}

TEST_CASE("what evens arms out can't be undone by tuning", "[sweep][tuning][match]") {
  const auto counted = [](const Config& config) {
    Cost cost;
    const std::int64_t d = config.model.width, f = config.layers.at(0).block.ffn_width;
    cost.parameters = 4 * d * d + 2 * d * (f > 0 ? f : 4 * d);
    cost.flops_per_step = static_cast<double>(cost.parameters * config.train.batch);
    return cost;
  };
  const auto with = [](const std::string& match, const std::string& grid) {
    return "[sweep]\nmatch = \"" + match + "\"\n[sweep.tune]\nseeds = [9]\ngrid = { " + grid + " }\n";
  };
  CHECK_NOTHROW(plan_of(with("parameters", "\"train.learning_rate\" = [1e-3, 1e-2], \"train.batch\" = [8, 16]"),
                        counted));
  CHECK_THROWS_WITH(plan_of(with("flops", "\"train.learning_rate\" = [1e-3, 1e-2], \"train.batch\" = [8, 16]"),
                            counted),
                    Contains("test.toml:5:") && Contains("tries train.batch = 8") && Contains("\"flops\" makes equal"));
  CHECK_THROWS_WITH(plan_of(with("parameters", "\"model.width\" = [64, 32]"), counted),
                    Contains("tries model.width = 32") && Contains("parameters, and 49152 without it"));
}
