// FakeLauncher, a launcher that starts no processes. A test specifies what each worker writes to its run's folder and
// how the worker ends.
#pragma once

#include "experiments/launch/launcher.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace heed {

/// The outcome of one start of a run.
struct Act {
  std::function<void(const RunFolder&)> leaves = [](const RunFolder&) {};
  WorkerEnd end = {};
  bool until_stopped = false; ///< runs until stop(); otherwise it has ended at the first call of ended()
  std::string refusal = {};   ///< not empty: start() throws heed::Failed with this message
};

inline void record(const RunFolder& run, const std::string& outcome, const std::string& failure = "") {
  put(run.manifest(), R"({"format": 1, "run": ")" + run.id() + R"(", "outcome": ")" + outcome + R"(", "failure": ")" +
                          failure + R"("})");
}

inline WorkerEnd ends_with(int status) {
  WorkerEnd end;
  end.status = status;
  return end;
}

inline Act finishes() {
  return {[](const RunFolder& run) { record(run, "finished"); }};
}
inline Act fails(const std::string& why) {
  return {[why](const RunFolder& run) { record(run, "failed", why); }, ends_with(1)};
}
inline Act crashes(const std::string& why) {
  return {[](const RunFolder&) {}, {.crash = why}};
}
inline Act waits_for_stop() {
  return {[](const RunFolder& run) { record(run, "interrupted"); }, ends_with(1), true};
}

class FakeLauncher : public Launcher {
public:
  std::map<std::string, std::deque<Act>> acts; ///< by run ID: one act for each start of the run
  std::function<Act()> otherwise = finishes;
  std::vector<std::string> calls; ///< "start run0", "stop run0"
  std::size_t most_at_once = 0;
  int threads = 0;                                    ///< number of threads in the last call of start()
  std::map<std::string, std::vector<int>> threads_of; ///< by run ID: at its start, and as allowed later
  bool queue = false;                                 ///< acts as a job queue: workers outlive this process
  std::set<std::string> queued_before;                ///< runs that already have a worker in the job queue
  bool submits_late = false;                          ///< another process submits as well, until this one is stopped

  std::size_t start(const RunFolder& run, int with_threads) override {
    calls.push_back("start " + run.id());
    threads = with_threads;
    threads_of[run.id()] = {with_threads};
    Act act = otherwise();
    if (auto& own = acts[run.id()]; !own.empty()) {
      act = own.front();
      own.pop_front();
    }
    if (!act.refusal.empty()) throw Failed(act.refusal);
    act.end.worker = ++started_;
    workers_.push_back({run, act, false});
    most_at_once = std::max(most_at_once, workers_.size());
    return started_;
  }

  std::vector<WorkerEnd> ended() override {
    std::vector<WorkerEnd> ends;
    std::erase_if(workers_, [&](const Worker& worker) {
      if (worker.act.until_stopped && !worker.stopped) return false;
      worker.act.leaves(worker.run);
      ends.push_back(worker.act.end);
      return true;
    });
    return ends;
  }

  void allow_threads(std::size_t number, int allowed) override {
    for (const Worker& worker : workers_)
      if (worker.act.end.worker == number) threads_of[worker.run.id()].push_back(allowed);
  }

  void stop(std::size_t number) override {
    for (Worker& worker : workers_)
      if (worker.act.end.worker == number) {
        worker.stopped = true;
        calls.push_back("stop " + worker.run.id());
      }
  }

  std::vector<std::size_t> submit(const std::function<bool()>& stop_requested) override {
    if (queue) calls.emplace_back("submit");
    std::vector<std::size_t> given_up;
    if (!submits_late || !stop_requested()) return given_up;
    for (const Worker& worker : workers_) given_up.push_back(worker.act.end.worker);
    workers_.clear();
    return given_up;
  }
  bool outlives() const override { return queue; }
  bool has(const RunFolder& run) override { return queued_before.contains(run.id()); }

  std::size_t starts_of(const std::string& id) const {
    return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), "start " + id));
  }

private:
  struct Worker {
    RunFolder run;
    Act act;
    bool stopped;
  };
  std::vector<Worker> workers_;
  std::size_t started_ = 0;
};

} // namespace heed
