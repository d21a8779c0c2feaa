// Tests of runs in processes on this machine. The worker is a shell script: a run's config.toml contains the commands
// that it executes.
#include "experiments/launch/executor.hpp"
#include "experiments/launch/local_launcher.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/lease.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

using namespace heed;
using Catch::Contains;
namespace fs = std::filesystem;
using Kind = RunEvent::Kind;

namespace {

struct Launched {
  Scratch out;
  fs::path program;
  std::vector<RunFolder> runs;
  std::vector<RunEvent> events;
  std::function<void(const RunEvent&)> heard = [](const RunEvent&) {}; // called for each event when it happens

  Launched() : program(out / "worker.sh") {
    put(program, R"sh(#!/bin/sh
[ "$1" = worker ] && [ "$3" = --threads ] || exit 9
dir=$2 threads=$4
outcome() {
  printf '{"format": 1, "run": "%s", "outcome": "%s", "failure": "%s"}' "$(basename $dir)" "$1" "$2" \
    > $dir/manifest.json
}
progress() {
  printf '{"step": %d, "steps": 10, "loss": 2.5, "steps_per_second": 4}' $1 > $dir/p
  mv $dir/p $dir/progress.json
}
. $dir/config.toml
)sh");
    fs::permissions(program, fs::perms::owner_all);
  }

  void add(const std::string& script) {
    runs.push_back(prepare_run(out.path, "run" + std::to_string(runs.size()), script));
  }

  ExecutionSummary execute(
      int jobs = 2, const std::function<bool()>& stop = [] { return false; }) {
    events.clear();
    LocalLauncher launcher(program);
    Executor executor(launcher, Allocation{jobs, 3});
    const auto take = [&](const RunEvent& event) {
      events.push_back(event);
      heard(event);
    };
    return executor.execute(runs, take, stop);
  }

  std::vector<Kind> kinds_of(std::size_t run) const {
    std::vector<Kind> out_kinds;
    for (const RunEvent& event : events)
      if (event.run == run && (event.kind != Kind::progress)) out_kinds.push_back(event.kind);
    return out_kinds;
  }
  std::string reason_of(std::size_t run) const {
    for (const RunEvent& event : events)
      if (event.run == run && !event.reason.empty()) return event.reason;
    return {};
  }
};

using Kinds = std::vector<Kind>;

} // namespace

TEST_CASE("all runs are executed, and those that are finished only once", "[sweep][launcher]") {
  Launched sweep;
  for (int i = 0; i < 3; ++i) sweep.add("echo $threads >> $dir/starts; outcome finished");
  const ExecutionSummary first = sweep.execute();
  CHECK(first.finished == 3);
  CHECK(first.all_done());
  CHECK(sweep.kinds_of(1) == Kinds{Kind::started, Kind::finished});
  const ExecutionSummary second = sweep.execute();
  CHECK(second.skipped == 3);
  CHECK(second.finished == 0);
  CHECK(second.all_done());
  CHECK(sweep.kinds_of(1) == Kinds{Kind::skipped});
  CHECK(content(sweep.runs[1].path / "starts") == "3\n");
}

TEST_CASE("a worker hears how many threads it may use", "[sweep][launcher]") {
  Launched sweep;
  // The program reads the numbers as bytes, after the first run has ended.
  sweep.add("outcome finished");
  sweep.add("while [ ! -e $dir/../run0/manifest.json ]; do sleep 0.01; done; sleep 0.5; "
            "head -c 4 <&${8} | od -An -i | tr -d ' ' > $dir/heard; outcome finished");
  LocalLauncher launcher(sweep.program);
  Executor executor(launcher, Allocation{.jobs = 2, .threads = 2, .cores = 5, .most = 16});
  executor.execute(
      sweep.runs, [](const RunEvent&) {}, [] { return false; });
  CHECK(content(sweep.runs[1].path / "heard") == "5\n");
}

TEST_CASE("a run that fails or crashes stops no other, and says why", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("outcome failed 'the loss is NaN'; exit 1");
  sweep.add("outcome running; echo allocating; echo 'bad things' >&2; kill -SEGV $$");
  sweep.add("echo 'cannot write: no space' >&2; exit 1");
  sweep.add("kill -KILL $$");
  sweep.add("exit 0");
  sweep.add("outcome finished");
  const ExecutionSummary executed = sweep.execute();
  CHECK(executed.failed == 5);
  CHECK(executed.finished == 1);
  CHECK_FALSE(executed.all_done());
  CHECK(sweep.reason_of(0) == "the loss is NaN");
  CHECK_THAT(sweep.reason_of(1), Contains("signal 11 (Segmentation fault)") && Contains("allocating / bad things"));
  CHECK_THAT(sweep.reason_of(2), Contains("status 1") && Contains("cannot write: no space"));
  CHECK_THAT(sweep.reason_of(3), Contains("memory ran out"));
  CHECK_THAT(sweep.reason_of(4), Contains("finished, but"));
  // If a run crashed and could not record the failure, the failure is recorded for it.
  CHECK(state_of(sweep.runs[1]) == RunState::failed);
  CHECK_THAT(read_manifest(sweep.runs[1])->failure, Contains("signal 11"));
}

TEST_CASE("a run that failed before is tried again, and an old reason is not told as a new one", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("[ -e $dir/second ] && { echo 'new trouble' >&2; exit 1; }; touch $dir/second; outcome failed old; exit 1");
  sweep.execute();
  CHECK(sweep.reason_of(0) == "old");
  sweep.execute();
  CHECK_THAT(sweep.reason_of(0), Contains("new trouble") && !Contains("old"));
}

TEST_CASE("no more runs at once than jobs", "[sweep][launcher]") {
  Launched sweep;
  // The first two runs wait for each other.
  const std::string begin = "cd " + sweep.out.path.string() + "; touch on-$$; ",
                    meet = "until [ $(ls | grep -c '^on-') = 2 ] || [ -e met ]; do sleep 0.02; done; touch met; ",
                    end = "ls | grep -c '^on-' >> counts; rm on-$$; outcome finished";
  for (int i = 0; i < 5; ++i) sweep.add(begin + (i < 2 ? meet : "") + end);
  CHECK(sweep.execute(2).finished == 5);
  const std::string counts = content(sweep.out / "counts");
  CHECK(counts.find_first_not_of("12\n") == std::string::npos);
  CHECK(fs::exists(sweep.out / "met"));
}

TEST_CASE("progress is passed on", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("progress 4; until [ -e $dir/seen ]; do sleep 0.02; done; progress 10; outcome finished");
  std::vector<std::int64_t> steps;
  sweep.heard = [&](const RunEvent& event) {
    if (event.kind != Kind::progress) return;
    put(sweep.runs[0].path / "seen", "");
    steps.push_back(event.progress.step);
    CHECK(event.progress.steps == 10);
    CHECK(event.progress.loss == 2.5);
  };
  sweep.execute();
  CHECK(steps == std::vector<std::int64_t>{4, 10});
}

TEST_CASE("a stop lets running ones keep their checkpoints, and starts no more", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("trap 'outcome interrupted; exit 1' TERM; touch $dir/ready; while :; do sleep 0.02; done");
  // The second run is already at its end when it is asked to stop.
  sweep.add("trap 'outcome finished; exit 0' TERM; touch $dir/ready; while :; do sleep 0.02; done");
  sweep.add("outcome finished");
  const ExecutionSummary executed = sweep.execute(2, [&] {
    return fs::exists(sweep.runs[0].path / "ready") && fs::exists(sweep.runs[1].path / "ready");
  });
  CHECK(executed.interrupted == 1);
  CHECK(executed.finished == 1);
  CHECK(executed.remaining == 1);
  CHECK_FALSE(executed.all_done());
  CHECK(sweep.kinds_of(0) == Kinds{Kind::started, Kind::interrupted});
  CHECK(sweep.kinds_of(2).empty());
}

TEST_CASE("what another process runs is waited for, and nothing runs twice", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("touch $dir/started-here; outcome finished");
  sweep.add("touch $dir/started-here; outcome finished");
  sweep.add("outcome finished");
  auto first = Lease::attempt(sweep.runs[0].claim());
  auto second = Lease::attempt(sweep.runs[1].claim());
  REQUIRE(first);
  REQUIRE(second);
  std::atomic<int> seen{0}; // number of runs that were found running elsewhere
  sweep.heard = [&](const RunEvent& event) { seen += event.kind == Kind::elsewhere; };
  std::thread elsewhere([&] {
    while (seen < 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    put(sweep.runs[0].manifest(), R"({"format": 1, "run": "run0", "outcome": "finished"})");
    put(sweep.runs[1].manifest(), R"({"format": 1, "run": "run1", "outcome": "interrupted"})");
    first.reset();
    second.reset();
  });
  const ExecutionSummary executed = sweep.execute();
  elsewhere.join();
  CHECK(executed.skipped == 1);
  CHECK(executed.finished == 2);
  CHECK(sweep.kinds_of(0) == Kinds{Kind::elsewhere, Kind::skipped});
  CHECK(sweep.kinds_of(1) == Kinds{Kind::elsewhere, Kind::started, Kind::finished});
  CHECK_FALSE(fs::exists(sweep.runs[0].path / "started-here"));
  CHECK(fs::exists(sweep.runs[1].path / "started-here"));
}

TEST_CASE("what another process takes on as soon as it failed here is that one's", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("outcome failed here; touch $dir/failed; while [ ! -e $dir/taken ]; do sleep 0.01; done; exit 1");
  const fs::path folder = sweep.runs[0].path;
  std::thread elsewhere([&] {
    while (!fs::exists(folder / "failed")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    auto claim = Lease::attempt(sweep.runs[0].claim());
    put(sweep.runs[0].manifest(), R"({"format": 1, "run": "run0", "outcome": "running"})");
    put(folder / "taken", "");
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    put(sweep.runs[0].manifest(), R"({"format": 1, "run": "run0", "outcome": "finished"})");
    claim.reset();
  });
  const ExecutionSummary executed = sweep.execute();
  elsewhere.join();
  CHECK(sweep.kinds_of(0) == Kinds{Kind::started, Kind::elsewhere, Kind::skipped});
  CHECK(executed.all_done());
}

TEST_CASE("a program that can't be started is each run's failure", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("");
  sweep.program = sweep.out / "gone";
  CHECK(sweep.execute().failed == 1);
  CHECK_THAT(sweep.reason_of(0), Contains("cannot start") && Contains("gone"));
}

TEST_CASE("outputs go to the run's log", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("echo out; echo err >&2; outcome interrupted; exit 1");
  sweep.execute();
  sweep.execute();
  CHECK(content(sweep.runs[0].log()) == "out\nerr\nout\nerr\n");
}

TEST_CASE("what a worker tells through its pipe is why it failed", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("outcome running; [ \"$5\" = --tell ] && eval \"printf 'no space' >&$6\"; exit 1");
  CHECK(sweep.execute().failed == 1);
  CHECK(sweep.reason_of(0) == "no space");
}

TEST_CASE("a worker has neither BLAS's threads nor the terminal", "[sweep][launcher]") {
  Launched sweep;
  sweep.add("echo $OPENBLAS_NUM_THREADS $(cat) > $dir/found; outcome finished");
  CHECK(sweep.execute().finished == 1);
  CHECK(content(sweep.runs[0].path / "found") == "1\n");
}

TEST_CASE("who waits is woken by the end of a worker, and not by what it tells", "[sweep][launcher]") {
  Launched sweep;
  // The process ends after the wait for it has timed out.
  sweep.add("eval \"printf 'words' >&$6\"; while [ ! -e $dir/end ]; do sleep 0.01; done; outcome finished");
  LocalLauncher launcher(sweep.program);
  launcher.start(sweep.runs[0], 1);
  launcher.wait(std::chrono::milliseconds(100));
  CHECK(launcher.ended().empty());
  put(sweep.runs[0].path / "end", "");
  constexpr std::chrono::hours for_ever{1}; // a test that hangs is stopped earlier
  std::vector<WorkerEnd> ends;
  while (ends.empty()) {
    launcher.wait(for_ever);
    ends = launcher.ended();
  }
  CHECK(ends.front().status == 0);
  CHECK(ends.front().failure == "words");
}

TEST_CASE("a worker that a signal kills was stopped where it was asked to stop, and crashed elsewhere",
          "[sweep][launcher]") {
  Launched sweep;
  sweep.add("kill -TERM $$");
  sweep.add("exec sleep 100");
  LocalLauncher launcher(sweep.program);
  launcher.start(sweep.runs[0], 1);
  const std::size_t stopped = launcher.start(sweep.runs[1], 1);
  launcher.stop(stopped);
  std::vector<WorkerEnd> ends;
  while (ends.size() < 2) {
    launcher.wait(std::chrono::hours(1)); // a test that hangs is stopped earlier
    for (WorkerEnd& end : launcher.ended()) ends.push_back(std::move(end));
  }
  for (const WorkerEnd& end : ends) {
    CHECK_THAT(end.crash, Contains("signal 15"));
    CHECK(end.by_stop == (end.worker == stopped));
  }
}
