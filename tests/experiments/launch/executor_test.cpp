// Tests of the executor: the order of runs and the events that it reports, with a launcher that starts no processes.
#include "experiments/launch/executor.hpp"
#include "experiments/runs/run_records.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/system/lease.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/launch/fake_launcher.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace heed;
using Catch::Contains;
using Kind = RunEvent::Kind;
using Calls = std::vector<std::string>;

namespace {

struct Runs {
  Scratch out;
  FakeLauncher launcher;
  std::vector<RunFolder> folders;
  std::vector<RunEvent> events;
  std::function<void(const RunEvent&)> heard = [](const RunEvent&) {}; // called for each event when it happens

  explicit Runs(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) folders.push_back(prepare_run(out.path, "run" + std::to_string(i), ""));
  }

  std::deque<Act>& acts(std::size_t run) { return launcher.acts[folders[run].id()]; }

  ExecutionSummary execute(
      int jobs, const std::function<bool()>& stop = [] { return false; }) {
    events.clear();
    launcher.calls.clear();
    Executor executor(launcher, Allocation{jobs, 3});
    const auto take = [&](const RunEvent& event) {
      events.push_back(event);
      heard(event);
    };
    return executor.execute(folders, take, stop);
  }

  /// All events except progress, in order.
  std::vector<std::pair<std::size_t, Kind>> told() const {
    std::vector<std::pair<std::size_t, Kind>> list;
    for (const RunEvent& event : events)
      if (event.kind != Kind::progress) list.emplace_back(event.run, event.kind);
    return list;
  }
  std::string reason_of(std::size_t run) const {
    for (const RunEvent& event : events)
      if (event.run == run && event.kind != Kind::elsewhere && !event.reason.empty()) return event.reason;
    return {};
  }
};

using Told = std::vector<std::pair<std::size_t, Kind>>;

void leave_dead_claim(const RunFolder& run) {
  if (const pid_t child = fork(); child == 0) {
    const auto claim = Lease::attempt(run.claim());
    ::kill(::getpid(), SIGKILL);
  } else {
    ::waitpid(child, nullptr, 0);
  }
}

} // namespace

TEST_CASE("runs start in their order, no more at once than jobs, and none that is finished", "[sweep][executor]") {
  Runs runs(5);
  record(runs.folders[1], "finished");
  const ExecutionSummary executed = runs.execute(2);
  CHECK(executed.finished == 4);
  CHECK(executed.skipped == 1);
  CHECK(executed.all_done());
  CHECK(runs.launcher.calls == Calls{"start run0", "start run2", "start run3", "start run4"});
  CHECK(runs.launcher.most_at_once == 2);
  CHECK(runs.launcher.threads == 3);
  CHECK(runs.told() == Told{{1, Kind::skipped}, // their starts are counted from the beginning
                            {0, Kind::started},
                            {2, Kind::started},
                            {0, Kind::finished},
                            {2, Kind::finished},
                            {3, Kind::started},
                            {4, Kind::started},
                            {3, Kind::finished},
                            {4, Kind::finished}});
  CHECK(runs.execute(2).skipped == 5);
  CHECK(runs.launcher.calls.empty());
}

TEST_CASE("runs share the cores, and the last ones get what others leave", "[sweep][executor]") {
  const auto threads_of = [](std::size_t count, const Allocation& allocation) {
    Runs runs(count);
    for (std::size_t i = 1; i < count; ++i) runs.acts(i) = {waits_for_stop()};
    // Each run ends when the run before it has ended.
    std::size_t next = 1;
    runs.heard = [&](const RunEvent& event) {
      if (event.kind != Kind::started && event.kind != Kind::progress) runs.launcher.stop(++next);
    };
    Executor executor(runs.launcher, allocation);
    executor.execute(
        runs.folders, [&](const RunEvent& event) { runs.heard(event); }, [] { return false; });
    std::vector<std::vector<int>> threads;
    for (const RunFolder& run : runs.folders) threads.push_back(runs.launcher.threads_of[run.id()]);
    return threads;
  };
  using Threads = std::vector<std::vector<int>>;
  CHECK(threads_of(3, {.jobs = 3, .threads = 2, .cores = 8, .most = 16}) == Threads{{2}, {3, 4}, {3, 4, 8}});
  CHECK(threads_of(3, {.jobs = 3, .threads = 2, .cores = 8, .most = 3}) == Threads{{2}, {3}, {3}});
  // A run that waits gets the core that the first run left; then the last run gets the others'.
  CHECK(threads_of(4, {.jobs = 2, .threads = 2, .cores = 5, .most = 16}) == Threads{{2}, {3}, {2}, {3, 5}});
  CHECK(threads_of(3, {.jobs = 3, .threads = 2}) == Threads{{2}, {2}, {2}}); // the number that was requested
}

TEST_CASE("how many at once follows from how many are to do", "[sweep][executor]") {
  Runs runs(3);
  record(runs.folders[0], "finished");
  std::vector<std::size_t> asked;
  Executor executor(runs.launcher, [&](std::size_t to_do) {
    asked.push_back(to_do);
    return Allocation{static_cast<int>(to_do), 0};
  });
  const auto execute = [&] {
    executor.execute(
        runs.folders, [](const RunEvent&) {}, [] { return false; });
  };
  execute();
  CHECK(runs.launcher.most_at_once == 2);
  CHECK(runs.launcher.threads == 1);
  execute();
  CHECK(asked == std::vector<std::size_t>{2, 1});
}

TEST_CASE("a failure is told with its reason, and stops no other run", "[sweep][executor]") {
  Runs runs(6);
  runs.acts(0) = {fails("the loss is NaN")};
  runs.acts(1) = {crashes("the node is gone")};
  runs.acts(2) = {Act{[](const RunFolder& run) { put(run.log(), "begins\ncannot write: no space\n"); }, ends_with(1)}};
  runs.acts(3) = {Act{.refusal = "the queue is full"}};
  runs.acts(4) = {Act{[](const RunFolder&) {}, ends_with(0)}};
  const ExecutionSummary executed = runs.execute(1);
  CHECK(executed.failed == 5);
  CHECK(executed.finished == 1);
  CHECK_FALSE(executed.all_done());
  CHECK(runs.reason_of(0) == "the loss is NaN");
  CHECK(runs.reason_of(1) == "the node is gone");
  CHECK(runs.reason_of(2) == "ended with status 1; its last words: begins / cannot write: no space");
  CHECK(runs.reason_of(3) == "the queue is full");
  CHECK_THAT(runs.reason_of(4), Contains("finished, but") && Contains("run4' was removed or changed"));
  // If a run crashed and could not record the failure, the executor records it.
  CHECK(state_of(runs.folders[1]) == RunState::failed);
  CHECK(read_manifest(runs.folders[1])->failure == "the node is gone");
}

TEST_CASE("a run that failed or was interrupted before starts again, with a reason of its own", "[sweep][executor]") {
  Runs runs(2);
  record(runs.folders[0], "failed", "old");
  record(runs.folders[1], "interrupted");
  put(runs.folders[0].log(), "old words\n");
  runs.acts(0) = {Act{[](const RunFolder&) {}, ends_with(2)}};
  const ExecutionSummary executed = runs.execute(1);
  CHECK(executed.failed == 1);
  CHECK(executed.finished == 1);
  CHECK(runs.reason_of(0) == "ended with status 2");
}

TEST_CASE("a stop reaches all that runs, and nothing starts after it", "[sweep][executor]") {
  Runs runs(5);
  runs.acts(0) = {waits_for_stop()};
  runs.acts(1) = {finishes()};
  runs.acts(1).front().until_stopped = true; // it is already at its end when it is asked to stop
  runs.acts(2) = {crashes("was killed")};
  runs.acts(2).front().until_stopped = runs.acts(2).front().end.by_stop = true;
  const ExecutionSummary executed = runs.execute(3, [&] { return runs.events.size() == 3; });
  CHECK(executed.interrupted == 2);
  CHECK(executed.finished == 1);
  CHECK(executed.remaining == 2);
  CHECK(runs.launcher.calls == Calls{"start run0", "start run1", "start run2", "stop run0", "stop run1", "stop run2"});
  CHECK(runs.told() == Told{{0, Kind::started},
                            {1, Kind::started},
                            {2, Kind::started},
                            {0, Kind::interrupted},
                            {1, Kind::finished},
                            {2, Kind::interrupted}});
  CHECK(state_of(runs.folders[2]) == RunState::missing);
  // A run that crashes during a stop, but not because of the stop, has failed.
  runs.acts(0) = {crashes("out of memory")};
  runs.acts(0).front().until_stopped = true;
  CHECK(runs.execute(1, [&] { return runs.told().size() == 2; }).failed == 1); // one run is finished, one has started
}

TEST_CASE("a stop before anything starts leaves all", "[sweep][executor]") {
  Runs runs(2);
  CHECK(runs.execute(1, [] { return true; }).remaining == 2);
  CHECK(runs.launcher.calls.empty());
}

TEST_CASE("what another process runs is waited for, and what it leaves undone is gone on with", "[sweep][executor]") {
  Runs runs(4);
  auto first = Lease::attempt(runs.folders[0].claim()), second = Lease::attempt(runs.folders[1].claim()),
       third = Lease::attempt(runs.folders[2].claim());
  REQUIRE((first && second && third));
  runs.heard = [&](const RunEvent& event) {
    if (event.run != 3 || event.kind != Kind::finished) return;
    record(runs.folders[0], "finished");
    record(runs.folders[1], "interrupted");
    record(runs.folders[2], "failed", "there");
    first.reset();
    second.reset();
    third.reset();
  };
  const ExecutionSummary executed = runs.execute(1);
  CHECK(runs.launcher.calls == Calls{"start run3", "start run1"});
  CHECK(runs.told() == Told{{0, Kind::elsewhere},
                            {1, Kind::elsewhere},
                            {2, Kind::elsewhere},
                            {3, Kind::started},
                            {3, Kind::finished},
                            {0, Kind::skipped},
                            {2, Kind::failed},
                            {1, Kind::started},
                            {1, Kind::finished}});
  CHECK(runs.reason_of(2) == "there");
  CHECK_THAT(runs.events[0].reason, Contains("waiting for '" + runs.folders[0].claim().string() + "' of process " +
                                             std::to_string(::getpid())));
  CHECK(executed.skipped == 1);
  CHECK(executed.finished == 2);
  CHECK(executed.failed == 1);
}

TEST_CASE("a dead owner's claim with a time in the future is gone before a worker starts", "[sweep][executor]") {
  Runs runs(1);
  leave_dead_claim(runs.folders[0]);
  std::filesystem::last_write_time(runs.folders[0].claim().path(),
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  bool there = true;
  runs.acts(0) = {Act{[&](const RunFolder& run) {
    there = run.claim().exists();
    record(run, "finished");
  }}};
  CHECK(runs.execute(1).finished == 1);
  CHECK_FALSE(there);
}

TEST_CASE("a run whose dead owner's claim is being taken over is waited for", "[sweep][executor]") {
  Runs runs(1);
  leave_dead_claim(runs.folders[0]);
  const std::string taker = runs.folders[0].claim().string() + ".replacing";
  put(taker, "");
  runs.heard = [&](const RunEvent& event) {
    if (event.kind == Kind::elsewhere) std::filesystem::remove(taker);
  };
  CHECK(runs.execute(1).finished == 1);
  CHECK(runs.told() == Told{{0, Kind::elsewhere}, {0, Kind::started}, {0, Kind::finished}});
  CHECK_THAT(runs.events[0].reason, Contains("waiting for '" + taker + "', which names no process: at most 120 s"));
}

TEST_CASE("a run is done that another process looks at once more", "[sweep][executor]") {
  Runs runs(2);
  runs.execute(1);
  REQUIRE(unfinished(runs.folders) == 0);
  const auto taken = Lease::attempt(runs.folders[1].claim());
  REQUIRE(taken);
  CHECK(unfinished(runs.folders) == 0);
}

TEST_CASE("what another process takes on as a worker here ends is that one's", "[sweep][executor]") {
  Runs runs(1);
  std::optional<Lease> taken;
  runs.acts(0) = {Act{[&](const RunFolder& run) {
                        taken = Lease::attempt(run.claim());
                        record(run, "running");
                      },
                      ends_with(1)}};
  runs.heard = [&](const RunEvent& event) {
    if (event.kind != Kind::elsewhere) return;
    record(runs.folders[0], "finished");
    taken.reset();
  };
  CHECK(runs.execute(1).all_done());
  CHECK(runs.told() == Told{{0, Kind::started}, {0, Kind::elsewhere}, {0, Kind::skipped}});
}

TEST_CASE("the last progress is told before the end", "[sweep][executor]") {
  Runs runs(1);
  runs.acts(0) = {Act{[](const RunFolder& run) {
    put(run.progress(), R"({"step": 10, "steps": 10, "loss": 2.5, "steps_per_second": 4})");
    record(run, "finished");
  }}};
  runs.execute(1);
  REQUIRE(runs.events.size() == 3);
  CHECK(runs.events[1].kind == Kind::progress);
  CHECK(runs.events[1].progress.step == 10);
  CHECK(runs.events[2].kind == Kind::finished);
}

TEST_CASE("what a run needs while it goes on goes with its end, but for words and for what is not finished",
          "[sweep][executor]") {
  Runs runs(3);
  const auto leaves = [](const std::string& words, const std::string& outcome) {
    return [=](const RunFolder& run) {
      put(run.progress(), R"({"step": 10, "steps": 10, "loss": 2.5, "steps_per_second": 4})");
      put(run.log(), words);
      record(run, outcome);
    };
  };
  runs.acts(0) = {Act{leaves("", "finished")}};
  runs.acts(1) = {Act{leaves("a warning\n", "finished")}};
  runs.acts(2) = {Act{leaves("", "failed"), ends_with(1)}};
  runs.execute(3);
  const auto there = [](const std::filesystem::path& file) { return std::filesystem::exists(file); };
  CHECK_FALSE(there(runs.folders[0].progress()));
  CHECK_FALSE(there(runs.folders[0].log()));
  CHECK(there(runs.folders[0].manifest()));
  CHECK_FALSE(there(runs.folders[1].progress()));
  CHECK(content(runs.folders[1].log()) == "a warning\n");
  CHECK(there(runs.folders[2].progress()));
  CHECK(there(runs.folders[2].log()));

  // The process that executed it died before it could remove them; the next process that finds the run finished removes
  // them.
  for (const std::size_t run : {0, 1}) put(runs.folders[run].progress(), "{}");
  put(runs.folders[0].log(), "");
  runs.acts(2) = {Act{leaves("", "finished")}};
  CHECK(runs.execute(3).skipped == 2);
  CHECK_FALSE(there(runs.folders[0].progress()));
  CHECK_FALSE(there(runs.folders[0].log()));
  CHECK_FALSE(there(runs.folders[1].progress()));
  CHECK(content(runs.folders[1].log()) == "a warning\n");

  // If they cannot be removed, they stay, and the run is finished nevertheless.
  Runs again(1);
  again.acts(0) = {Act{leaves("", "finished")}};
  const WriteHook hook([](const std::filesystem::path& path) { return path.extension() == ".txt" ? EACCES : 0; });
  CHECK(again.execute(1).all_done());
  CHECK(there(again.folders[0].log()));
  CHECK(again.events.back().kind == Kind::finished);
}

TEST_CASE("the machine is shared by cores and by memory", "[sweep][executor]") {
  Machine machine;
  machine.cores = 8;
  machine.memory = 10e9;
  const auto share = [&](std::size_t runs, double bytes, int jobs = 0, int threads = 0) {
    const Allocation s = allocate_machine(machine, runs, bytes, jobs, threads);
    return std::pair(s.jobs, s.threads);
  };
  CHECK(share(100, 1e6) == std::pair(8, 1));
  CHECK(share(3, 1e6) == std::pair(3, 2)); // fewer runs than cores: the remaining cores become threads
  CHECK(share(1, 1e6) == std::pair(1, 8));
  CHECK(share(100, 2e9) == std::pair(4, 2)); // 4 runs fit into 80 % of the memory
  CHECK(share(100, 1e12) == std::pair(1, 8));
  CHECK(share(100, 1e6, 0, 4) == std::pair(2, 4));
  CHECK(share(100, 1e12, 6) == std::pair(6, 1)); // an explicit number is obeyed
  CHECK(share(100, 1e6, 2, 3) == std::pair(2, 3));
  CHECK(share(0, 0) == std::pair(1, 8));

  const auto words = [&](std::size_t runs, int useful, int jobs = 0, int threads = 0) {
    return threads_in_words(allocate_machine(machine, runs, 1e6, jobs, threads, useful));
  };
  CHECK(words(3, 16) == "2 or 3 threads");
  CHECK(words(3, 2) == "2 threads");
  CHECK(words(1, 5) == "5 threads");
  CHECK(words(100, 16) == "1 thread");
  CHECK(words(5, 16) == "1 or 2 threads");
  CHECK(words(4, 16) == "2 threads");
  CHECK(words(3, 16, 0, 1) == "1 thread");
  CHECK(words(3, 16, 3) == "2 or 3 threads");
}

TEST_CASE("a failure that could not be recorded is told by the worker, and noted where it can be",
          "[sweep][executor]") {
  Runs runs(3);
  // The manifest still says that the run is running, because the disk accepted no later manifest.
  const WorkerEnd full{.status = 1, .failure = "the disk is full"};
  runs.acts(0) = {Act{[](const RunFolder& run) { record(run, "running"); }, full}};
  runs.acts(1) = {Act{[](const RunFolder& run) { put(run.manifest(), "{\"format\": 1, \"run\": "); }, full}};
  const ExecutionSummary executed = runs.execute(1);
  CHECK(executed.failed == 2);
  CHECK(executed.finished == 1);
  for (const std::size_t run : {0, 1}) {
    CHECK(runs.reason_of(run) == "the disk is full");
    CHECK(state_of(runs.folders[run]) == RunState::failed);
    CHECK(read_manifest(runs.folders[run])->failure == "the disk is full");
  }
  // Only a manifest that is damaged is set aside.
  const auto aside = [&](std::size_t run) { return runs.folders[run].manifest().string() + ".damaged"; };
  CHECK_FALSE(std::filesystem::exists(aside(0)));
  CHECK(content(aside(1)) == "{\"format\": 1, \"run\": ");
}

TEST_CASE("in a queue, a run is queued, then started when somebody has it", "[sweep][executor]") {
  Runs runs(2);
  runs.launcher.queue = true;
  std::optional<Lease> taken;
  runs.acts(0) = {waits_for_stop()};
  runs.heard = [&](const RunEvent& event) {
    if (event.run == 1 && event.kind == Kind::finished) taken = Lease::attempt(runs.folders[0].claim());
    if (event.run != 0 || event.kind != Kind::started) return;
    taken.reset();
    record(runs.folders[0], "finished");
    runs.launcher.stop(1);
  };
  runs.acts(0).front().leaves = [](const RunFolder&) {};
  runs.acts(0).front().end = {};
  const ExecutionSummary executed = runs.execute(5);
  CHECK(executed.finished == 2);
  CHECK(runs.told() ==
        Told{{0, Kind::queued}, {1, Kind::queued}, {1, Kind::finished}, {0, Kind::started}, {0, Kind::finished}});
  CHECK(runs.launcher.calls == Calls{"start run0", "start run1", "submit", "stop run0"}); // submitted together
}

TEST_CASE("a stop leaves what outlives this process where it is", "[sweep][executor]") {
  Runs runs(3);
  runs.launcher.queue = true;
  runs.acts(0) = runs.acts(1) = {waits_for_stop()};
  const ExecutionSummary executed = runs.execute(2, [&] { return !runs.events.empty(); });
  CHECK(executed.left == 2);
  CHECK(executed.remaining == 1);
  CHECK(executed.interrupted == 0);
  CHECK_FALSE(executed.all_done());
  CHECK(runs.launcher.calls == Calls{"start run0", "start run1", "submit"});
}

TEST_CASE("a stop while another process submits leaves the runs that were to be submitted", "[sweep][executor]") {
  Runs runs(3);
  runs.launcher.queue = runs.launcher.submits_late = true;
  const ExecutionSummary executed = runs.execute(2, [&] { return !runs.events.empty(); });
  CHECK(executed.left == 0);
  CHECK(executed.remaining == 3);
}

TEST_CASE("a run that the launcher's own kind has is followed, not waited for", "[sweep][executor]") {
  Runs runs(2);
  const auto first = Lease::attempt(runs.folders[0].claim());
  REQUIRE(first);
  runs.launcher.queued_before = {"run0"};
  runs.acts(0) = {finishes()};
  CHECK(runs.execute(1).finished == 2);
  CHECK(runs.launcher.starts_of("run0") == 1);
}

TEST_CASE("what took a run away is told, and is no failure", "[sweep][executor]") {
  Runs runs(2);
  WorkerEnd end;
  end.interruption = "out of time (job 7_0)";
  runs.acts(0) = {Act{[](const RunFolder& run) { record(run, "running"); }, end}};
  runs.acts(1) = {Act{[](const RunFolder& run) { record(run, "finished"); }, end}}; // it had already ended by then
  const ExecutionSummary executed = runs.execute(1);
  CHECK(executed.interrupted == 1);
  CHECK(executed.finished == 1);
  CHECK(executed.failed == 0);
  CHECK(runs.reason_of(0) == "out of time (job 7_0)");
}

TEST_CASE("a signal that ends a worker after its run is finished takes nothing away", "[sweep][executor]") {
  Runs runs(3);
  const auto finishes_and = [](WorkerEnd end) { return Act{finishes().leaves, end}; };
  runs.acts(0) = {finishes_and({.crash = "crashed with signal 15 (Terminated)", .by_stop = true})};
  runs.acts(1) = {finishes_and({.crash = "crashed with signal 9 (Killed)"})};
  put(runs.folders[1].progress(), "{}");
  const ExecutionSummary executed = runs.execute(1);
  CHECK(executed.finished == 3);
  CHECK(executed.all_done());
  CHECK(state_of(runs.folders[1]) == RunState::finished);
  CHECK_FALSE(runs.folders[1].progress().exists());
}
