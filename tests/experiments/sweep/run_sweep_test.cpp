// Tests of a sweep's stages, with a launcher that starts no processes.
#include "experiments/config/config.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/sweep/tuning.hpp"

#include "experiments/runs/metrics_file.hpp"
#include "experiments/system/lease.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/launch/fake_launcher.hpp"
#include "tests/experiments/sweep/plan_support.hpp"

#include <numeric>
#include <set>

using namespace heed;
using Catch::Contains;
using Kind = RunEvent::Kind;
using Numbers = std::vector<std::size_t>;

namespace {

// Runs of tuning: the reference with 0.001 and 0.01, then the other arm with both. Then four replicates.
const std::string tuned_sweep = R"(
name = "tuned"
[sweep]
seeds = [0, 1]
[sweep.tune]
seeds = [100]
grid = { "train.learning_rate" = [1e-3, 1e-2] }
[[sweep.block]]
grid = { "attention.score" = ["additive"] }
)";
const std::string plain = "[sweep]\nseeds = [0, 1, 2]\n";

/// A worker that trains to a loss equal to its learning rate.
Act trains() {
  return {[](const RunFolder& run) {
    append_metrics(run, {10, 1.0, 100, {{"val_loss", read_config(run).train.learning_rate}}});
    record(run, "finished");
  }};
}

struct Heard : SweepEvents {
  std::vector<std::size_t> runs, to_do; // for each start
  std::vector<RunEvent> events;
  std::vector<std::size_t> tuned_after; // the number of events before each choice
  std::function<bool()> stop = [] { return false; };

  void ready(const SweepStart& start) override {
    runs.push_back(start.runs);
    to_do.push_back(start.to_do);
  }
  void heard(const RunEvent& event) override { events.push_back(event); }
  void tuned(const Plan& plan) override {
    CHECK(plan.tuning->settled());
    tuned_after.push_back(events.size());
  }
  bool stop_requested() override { return stop(); }

  Numbers numbers_of(Kind kind) const {
    Numbers out;
    for (const RunEvent& event : events)
      if (event.kind == kind) out.push_back(event.run);
    return out;
  }
};

struct Driven {
  Scratch out;
  FakeLauncher launcher;
  Plan plan;
  Heard heard;
  std::vector<std::size_t> asked; // the numbers of runs for which an allocation was requested

  explicit Driven(const std::string& toml) : plan(plan_of(toml)) { launcher.otherwise = trains; }

  std::deque<Act>& acts(const PlannedRun& run) { return launcher.acts[run.id]; }

  SweepResult run() {
    asked.clear();
    launcher.calls.clear();
    heard.events.clear();
    Executor executor(launcher, [&](std::size_t to_do) {
      asked.push_back(to_do);
      return Allocation{2, 1};
    });
    return run_sweep(plan, out.path, executor, heard);
  }
};

Numbers count(std::size_t n) {
  Numbers out(n);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

} // namespace

TEST_CASE("a sweep's runs are executed, and what was done before is not", "[sweep][run]") {
  Driven sweep(plain);
  sweep.acts(sweep.plan.runs[1]) = {fails("the loss is NaN")};
  const SweepResult first = sweep.run();
  CHECK(sweep.heard.numbers_of(Kind::started) == count(3));
  CHECK(first.executed.finished == 2);
  CHECK(first.executed.failed == 1);
  CHECK_FALSE(first.stopped());
  CHECK(first.runs == 3);
  CHECK(first.to_do == 1);
  CHECK(first.folder == sweep.out / "sweeps" / sweep.plan.folder_name());
  Plan frozen = load_plan(first.folder);
  CHECK(frozen.frozen->finished == 0);
  CHECK(frozen.frozen->runs == 3);
  CHECK(first.plan.frozen->at == frozen.frozen->at); // the following report says so
  frozen.frozen.reset();
  CHECK(to_json(frozen) == to_json(sweep.plan));

  const SweepResult second = sweep.run(); // a failed run is retried
  CHECK(sweep.launcher.calls == std::vector<std::string>{"start " + sweep.plan.runs[1].id});
  CHECK(second.executed.all_done());
  CHECK(second.to_do == 0);

  const SweepResult third = sweep.run();
  CHECK(sweep.heard.to_do == Numbers{3, 1, 0});
  CHECK(sweep.heard.events.empty());
  CHECK(third.executed.all_done());
}

TEST_CASE("the runs of a variation follow the replicates, and are resumed as they are", "[sweep][run][vary]") {
  Driven sweep("[sweep]\nseeds = [0, 1]\nvary = [\"init\"]\nvary_values = 3\nvary_fixings = 2\n");
  REQUIRE(sweep.plan.variation->runs.size() == 4);
  sweep.heard.stop = [&] { return !sweep.heard.numbers_of(Kind::finished).empty(); };
  const SweepResult first = sweep.run();
  CHECK(first.stopped());
  CHECK(first.runs == 6);
  CHECK(first.to_do > 0);
  CHECK(first.executed.finished + first.to_do == 6);
  sweep.heard.stop = [] { return false; };
  const SweepResult second = sweep.run();
  CHECK(second.to_do == 0);
  CHECK(second.executed.skipped == first.executed.finished);
  CHECK(second.executed.finished == first.to_do);
  for (const PlannedRun& run : sweep.plan.variation->runs)
    CHECK(read_config(RunFolder{sweep.out / run.id}).init.seed > 0);
  CHECK(load_plan(second.folder).frozen->runs == 6);
}

TEST_CASE("a tuned sweep runs its trials, then what each arm chose", "[sweep][run]") {
  Driven sweep(tuned_sweep);
  const SweepResult result = sweep.run();
  CHECK(sweep.heard.runs == Numbers{8});
  CHECK(sweep.heard.to_do == Numbers{8});
  CHECK(sweep.heard.numbers_of(Kind::finished) == count(8));
  CHECK(sweep.heard.tuned_after == Numbers{8}); // started and finished, for four runs
  CHECK(sweep.asked == Numbers{4, 4, 4});       // for the announcement, and for each stage
  REQUIRE(result.plan.tuning->settled());
  CHECK(result.plan.tuning->arms[0].chosen == 0U);
  CHECK(result.to_do == 0);
  std::set<std::string> wanted;
  for (const PlannedRun& run : result.plan.tuning->runs) wanted.insert(run.id);
  for (const PlannedRun& run : result.plan.runs) wanted.insert(run.id);
  CHECK(wanted.size() == 8);
  for (const std::string& id : wanted) CHECK(sweep.launcher.starts_of(id) == 1);
  CHECK(sweep.launcher.calls.size() == 8);

  sweep.run();
  CHECK(sweep.heard.to_do == Numbers{8, 0});
  CHECK(sweep.launcher.calls.empty());
}

TEST_CASE("a trial that fails is tried once more, when the others are done", "[sweep][run]") {
  Driven sweep(tuned_sweep);
  const std::vector<PlannedRun>& trials = sweep.plan.tuning->runs;
  sweep.acts(trials[0]) = {fails("an accident")};
  sweep.acts(trials[2]) = {fails("the loss is NaN"), fails("the loss is NaN")};
  const SweepResult result = sweep.run();
  CHECK(sweep.heard.numbers_of(Kind::started) == Numbers{0, 1, 2, 3, 0, 2, 4, 5, 6, 7});
  CHECK(result.executed.failed == 0); // a discarded trial is not a failure of the sweep
  CHECK(result.executed.finished == 8 - 1);
  CHECK(result.plan.tuning->arms[0].chosen == 0U);
  CHECK(result.plan.tuning->arms[1].chosen == 1U);
  CHECK(result.to_do == 0);
}

TEST_CASE("a trial whose folder is removed before the arms choose is run again", "[sweep][run]") {
  Driven sweep(tuned_sweep);
  const std::string victim = sweep.plan.tuning->runs[0].id;
  bool removed = false;
  sweep.heard.stop = [&] {
    if (!removed && sweep.heard.numbers_of(Kind::finished).size() >= 2)
      removed = fs::remove_all(sweep.out / victim) > 0;
    return false;
  };
  const SweepResult result = sweep.run();
  CHECK(removed);
  CHECK(sweep.launcher.starts_of(victim) == 2);
  CHECK(result.plan.tuning->arms[0].chosen == 0U);
  CHECK(result.to_do == 0);
}

TEST_CASE("a stop while arms are tuned leaves the rest, and the sweep goes on from there", "[sweep][run]") {
  Driven sweep(tuned_sweep);
  sweep.acts(sweep.plan.tuning->runs[0]) = {waits_for_stop()};
  sweep.heard.stop = [&] { return !sweep.heard.numbers_of(Kind::finished).empty(); };
  const SweepResult stopped = sweep.run();
  CHECK(stopped.stopped());
  CHECK(stopped.executed.interrupted == 1);
  CHECK(stopped.executed.finished == 1);
  CHECK(stopped.executed.remaining == 2 + 4);
  CHECK(stopped.runs == 8);
  CHECK(stopped.to_do == 7);
  CHECK(sweep.heard.tuned_after.empty());
  CHECK_FALSE(stopped.plan.tuning->settled());

  sweep.heard.stop = [] { return false; };
  const SweepResult rest = sweep.run();
  CHECK(sweep.heard.to_do == Numbers{8, 7});
  CHECK(rest.executed.all_done());
  CHECK(rest.to_do == 0);
}

TEST_CASE("a stop while replicates run keeps the choice", "[sweep][run]") {
  Driven sweep(tuned_sweep);
  sweep.heard.stop = [&] { return sweep.heard.numbers_of(Kind::finished).size() >= 6; };
  const SweepResult stopped = sweep.run();
  CHECK(stopped.stopped());
  CHECK(stopped.to_do == 2);
  sweep.heard.stop = [] { return false; };
  const SweepResult rest = sweep.run();
  CHECK(rest.to_do == 0);
  CHECK(sweep.heard.tuned_after.size() == 1);
  CHECK(sweep.heard.numbers_of(Kind::started) == Numbers{6, 7});
  CHECK(sweep.heard.numbers_of(Kind::skipped) == Numbers{4, 5});
}

TEST_CASE("a stop leaves runs in the queue, and counts them", "[sweep][run]") {
  Driven sweep(plain);
  sweep.launcher.queue = true;
  sweep.acts(sweep.plan.runs[0]) = sweep.acts(sweep.plan.runs[1]) = {waits_for_stop()};
  sweep.heard.stop = [&] { return !sweep.heard.events.empty(); };
  const SweepResult stopped = sweep.run();
  CHECK(stopped.executed.left == 2);
  CHECK(stopped.executed.remaining == 1);
  CHECK_FALSE(stopped.executed.all_done());
}

TEST_CASE("a stop while another process settles the arms starts no open trial again", "[sweep][run]") {
  Driven sweep(tuned_sweep);
  const RunFolder taken_away{sweep.out.path / sweep.plan.tuning->runs[0].id};
  WorkerEnd end;
  end.interruption = "out of time";
  sweep.acts(sweep.plan.tuning->runs[0]) = {Act{[](const RunFolder& run) { record(run, "running"); }, end}};
  const auto settling = Lease::attempt(file_of_sweep(freeze(sweep.plan, sweep.out.path), "claim"));
  REQUIRE(settling);
  std::size_t asked = 0; // asked once by the executor, then while the sweep waits for the arms' choice
  sweep.heard.stop = [&] { return sweep.heard.numbers_of(Kind::finished).size() == 3 && ++asked > 3; };
  const SweepResult stopped = sweep.run();
  CHECK(sweep.launcher.starts_of(taken_away.id()) == 1);
  CHECK(stopped.executed.interrupted == 1);
  CHECK(stopped.executed.remaining == 1 + 4);
  CHECK(sweep.asked == Numbers{4, 4}); // an allocation was requested for the start, and for the trials
}

TEST_CASE("trials that another process runs are waited for before arms choose", "[sweep][run]") {
  Driven sweep(tuned_sweep);
  const PlannedRun& planned = sweep.plan.tuning->runs[3];
  const RunFolder run = prepare_run(sweep.out.path, planned.id, planned.config);
  auto claim = Lease::attempt(run.claim());
  REQUIRE(claim);
  sweep.heard.stop = [&] {
    if (claim && sweep.heard.numbers_of(Kind::finished).size() == 3) {
      record(run, "interrupted");
      claim.reset();
    }
    return false;
  };
  const SweepResult result = sweep.run();
  CHECK(sweep.heard.numbers_of(Kind::elsewhere) == Numbers{3});
  CHECK(sweep.launcher.starts_of(planned.id) == 1);
  CHECK(result.to_do == 0);
}

TEST_CASE("an arm that can't choose, and a folder that can't be made, are errors", "[sweep][run]") {
  Driven sweep(tuned_sweep);
  sweep.launcher.otherwise = [] { return fails("the loss is NaN"); };
  CHECK_THROWS_AS(sweep.run(), Failed);
  CHECK(sweep.launcher.calls.size() == 8); // each trial twice

  Driven other(plain);
  put(other.out / "file", "");
  Executor executor(other.launcher, Allocation{1, 1});
  CHECK_THROWS_AS(run_sweep(other.plan, other.out / "file", executor, other.heard), Refused);
  CHECK(other.heard.runs.empty());
}
