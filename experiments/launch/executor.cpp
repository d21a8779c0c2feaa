#include "experiments/launch/executor.hpp"

#include "experiments/runs/run_state.hpp"
#include "experiments/runs/worker.hpp"
#include "experiments/system/bounds.hpp"
#include "experiments/system/lease.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <fmt/format.h>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

/// The last `count` non-empty lines at the end of a text, joined to one line.
std::string last_lines(std::string_view text, std::size_t count) {
  std::deque<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back(cut(line, 1000));
    if (lines.size() > count) lines.pop_front();
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return fmt::format("{}", fmt::join(lines, " / "));
}

/// Writes the failure into the manifest, because a worker that crashed, or whose disk was full, could not. The rest of
/// the folder is unchanged.
void note_failure(const RunFolder& run, const std::string& reason) {
  try {
    auto claim = Lease::attempt(run.claim());
    if (!claim) return;
    const auto before = read_manifest(run);
    require_readable(before);
    if (!before && !before.is_missing()) run.manifest().set_aside();
    Manifest manifest = before.value.value_or(Manifest{});
    manifest.run = run.id();
    manifest.outcome = "failed";
    manifest.failure = reason;
    if (claim->confirm()) run.manifest().write(to_json(manifest));
  } catch (const Failed&) {
    // The event reports it in any case.
  }
}

/// Whether a worker that starts now gets the run at once, as far as is known.
bool is_free(const RunFolder& run) {
  try {
    return Lease::make_free(run.claim());
  } catch (const Failed&) {
    return true; // the worker reports it
  }
}

/// Whom a run waits for that another process executes, in words; empty if that can't be read now.
std::string waited_for(const RunFolder& run) {
  try {
    return Lease::waited_for(run.claim()).in_words();
  } catch (const Unreadable&) {
    return "";
  }
}

/// A run whose worker was started.
class Running {
public:
  /// Starts the worker. Throws heed::Failed if it can't be started.
  Running(std::size_t index, const RunFolder& run, Launcher& launcher, int threads)
      : index_(index), run_(run), manifest_before_(bytes_of_manifest()) {
    log_before_ = run.log().identity().value.value_or(FileIdentity{}).size;
    progress_written_ = progress_time();
    worker_ = launcher.start(run, threads);
    waits_ = launcher.outlives();
    threads_ = threads;
  }

  int threads() const { return threads_; }
  void allow_threads(Launcher& launcher, int threads) {
    threads_ = threads;
    launcher.allow_threads(worker_, threads);
  }

  std::size_t index() const { return index_; }
  std::size_t worker() const { return worker_; }

  /// Whether the run was queued and has begun since the last call.
  bool just_begun() {
    const bool begun = waits_ && Lease::held(run_.claim());
    if (begun) waits_ = false;
    return begun;
  }

  /// The newest progress, if it is newer than at the last call.
  std::optional<Progress> news() {
    const auto written = progress_time();
    if (written == progress_written_) return std::nullopt;
    progress_written_ = written;
    const auto bytes = run_.progress().read(largest_state);
    if (!bytes) return std::nullopt;
    const auto progress = progress_from_json(*bytes);
    return progress ? progress.value : std::nullopt;
  }

  /// How the run ended, or that another process has taken it over since.
  /// @param stopping  it was asked to stop
  RunEvent verdict(const WorkerEnd& end, bool stopping) const {
    RunEvent event;
    event.run = index_;
    const bool crashed = !end.crash.empty();
    const RunState state = state_of_claimed(run_);
    const bool recorded = bytes_of_manifest() != manifest_before_; // otherwise the manifest is of an earlier start
    // A signal may kill a worker after it has finished its run, while it exits.
    if (state == RunState::finished && (recorded || (!crashed && end.status == 0))) {
      event.kind = RunEvent::Kind::finished;
    } else if (!stopping && state != RunState::finished && Lease::held(run_.claim())) {
      event.kind = RunEvent::Kind::elsewhere; // its files are of the other process
      event.reason = waited_for(run_);
    } else if (crashed) {
      event.kind = end.by_stop ? RunEvent::Kind::interrupted : RunEvent::Kind::failed;
      event.reason = with_log(end.crash);
      if (!end.by_stop) note_failure(run_, event.reason);
    } else if (!end.interruption.empty() && state != RunState::finished) {
      event.kind = RunEvent::Kind::interrupted;
      event.reason = end.interruption;
    } else if (!end.failure.empty()) {
      event.kind = RunEvent::Kind::failed;
      event.reason = end.failure;
      if (state != RunState::failed && end.status != untouched) note_failure(run_, event.reason);
    } else if (end.status == 0) {
      event.kind = RunEvent::Kind::failed;
      event.reason = fmt::format("it finished, but '{}' was removed or changed meanwhile", run_.path.string());
    } else if ((recorded && state == RunState::interrupted) || (stopping && !recorded)) {
      event.kind = RunEvent::Kind::interrupted;
    } else {
      event.kind = RunEvent::Kind::failed;
      const auto manifest = read_manifest(run_);
      event.reason = recorded && manifest && !manifest->failure.empty()
                         ? manifest->failure
                         : with_log(fmt::format("ended with status {}", end.status));
    }
    return event;
  }

private:
  std::string bytes_of_manifest() const { return run_.manifest().read(largest_manifest).value.value_or(""); }

  std::int64_t progress_time() const { return run_.progress().identity().value.value_or(FileIdentity{}).written; }

  std::string with_log(const std::string& what) const {
    const auto log = run_.log().read_end(largest_state, log_before_);
    const std::string last = log ? last_lines(*log, 3) : "";
    return last.empty() ? what : fmt::format("{}; its last words: {}", what, last);
  }

  std::size_t index_, worker_ = 0;
  int threads_ = 1;
  bool waits_ = false;
  RunFolder run_;
  std::string manifest_before_;
  std::uint64_t log_before_ = 0;
  std::int64_t progress_written_ = 0;
};

/// One call of Executor::execute.
class Execution {
public:
  /// @param waiting  the runs to execute, in order
  Execution(std::span<const RunFolder> runs, std::deque<std::size_t> waiting, Launcher& launcher, Allocation allocation,
            const std::function<void(const RunEvent&)>& on_event)
      : runs_(runs), launcher_(launcher), allocation_(allocation), on_event_(on_event), waiting_(std::move(waiting)) {}

  void skip(std::span<const std::size_t> finished) {
    for (const std::size_t run : finished) tell(RunEvent::Kind::skipped, run);
  }

  ExecutionSummary work(const std::function<bool()>& stop_requested) {
    for (;;) {
      if (!stopping_ && stop_requested()) stop();
      if (!stopping_) {
        look_elsewhere();
        fill(stop_requested);
      }
      if (stopping_ && launcher_.outlives()) break;
      if (running_.empty() && (stopping_ || (waiting_.empty() && elsewhere_.empty()))) break;
      const bool free_slot = attend();
      // The next run starts at once. Other runs' ends are noticed later.
      if (!free_slot || waiting_.empty() || stopping_) launcher_.wait(std::chrono::milliseconds(20));
    }
    executed_.remaining = waiting_.size() + elsewhere_.size();
    executed_.left = running_.size();
    return executed_;
  }

private:
  void stop() {
    stopping_ = true;
    if (launcher_.outlives()) return;
    for (const Running& run : running_) launcher_.stop(run.worker());
  }

  void tell(const RunEvent& event) {
    switch (event.kind) {
      case RunEvent::Kind::skipped:
        ++executed_.skipped;
        clear_finished(runs_[event.run]); // the process that executed it may have died before this
        break;
      case RunEvent::Kind::finished: ++executed_.finished; break;
      case RunEvent::Kind::failed: ++executed_.failed; break;
      case RunEvent::Kind::interrupted: ++executed_.interrupted; break;
      default: break;
    }
    on_event_(event);
  }
  void tell(RunEvent::Kind kind, std::size_t run, std::string reason = {}) { tell({kind, run, {}, std::move(reason)}); }

  /// Starts as many runs as allowed, in order.
  void fill(const std::function<bool()>& stop_requested) {
    bool any = false;
    while (running_.size() < static_cast<std::size_t>(allocation_.jobs) && !waiting_.empty()) {
      const std::size_t next = waiting_.front();
      waiting_.pop_front();
      const RunState state = state_of(runs_[next]);
      if (state == RunState::finished) {
        tell(RunEvent::Kind::skipped, next);
      } else if ((state == RunState::running || !is_free(runs_[next])) && !launcher_.has(runs_[next])) {
        elsewhere_.push_back(next);
        tell(RunEvent::Kind::elsewhere, next, waited_for(runs_[next]));
      } else {
        start(next);
        any = true;
      }
    }
    if (!any) return;
    const std::vector<std::size_t> given_up = launcher_.submit(stop_requested);
    std::erase_if(running_, [&](const Running& run) {
      if (std::ranges::find(given_up, run.worker()) == given_up.end()) return false;
      waiting_.push_front(run.index());
      return true;
    });
  }

  void start(std::size_t next) {
    try {
      const auto free_slots = static_cast<std::size_t>(allocation_.jobs) - running_.size();
      const int to_start = static_cast<int>(std::min(free_slots, waiting_.size() + elsewhere_.size() + 1));
      running_.emplace_back(next, runs_[next], launcher_, allocation_.threads_of_next(threads_used(), to_start));
      tell(launcher_.outlives() ? RunEvent::Kind::queued : RunEvent::Kind::started, next);
    } catch (const Failed& error) {
      tell(RunEvent::Kind::failed, next, error.what());
    }
  }

  int threads_used() const {
    return std::accumulate(running_.begin(), running_.end(), 0,
                           [](int sum, const Running& run) { return sum + run.threads(); });
  }

  /// Gives cores that no run uses, and that no waiting run will get, to the running ones with the fewest threads.
  void share_free_cores() {
    if (allocation_.cores == 0 || stopping_ || !waiting_.empty() || !elsewhere_.empty() || running_.empty()) return;
    std::vector<int> threads;
    for (const Running& run : running_) threads.push_back(run.threads());
    for (int free = allocation_.cores - threads_used(); free > 0; --free)
      if (int& fewest = *std::ranges::min_element(threads); fewest < allocation_.most) ++fewest;
    for (std::size_t i = 0; i < threads.size(); ++i)
      if (threads[i] > running_[i].threads()) running_[i].allow_threads(launcher_, threads[i]);
  }

  /// Checks runs of other processes that have ended: finished ones are done, unfinished ones are executed here.
  void look_elsewhere() {
    if (const auto now = Clock::now(); now < next_look_) return;
    else next_look_ = now + std::chrono::milliseconds(500);
    std::erase_if(elsewhere_, [&](std::size_t run) {
      const RunState state = state_of(runs_[run]);
      if ((state == RunState::running || !is_free(runs_[run])) && !launcher_.has(runs_[run])) return false;
      const auto manifest = read_manifest(runs_[run]);
      if (state == RunState::finished) tell(RunEvent::Kind::skipped, run);
      else if (state == RunState::failed) tell(RunEvent::Kind::failed, run, manifest ? manifest->failure : "");
      else waiting_.push_front(run);
      return true;
    });
  }

  /// Collects news of running workers and removes those that ended. Returns whether any ended.
  bool attend() {
    const auto now = Clock::now();
    const bool ask_for_news = now >= next_news_;
    // Thousands of runs in a cluster's queue are checked less often.
    if (ask_for_news) next_news_ = now + std::chrono::milliseconds(std::max<std::size_t>(200, running_.size() * 2));
    const std::vector<WorkerEnd> ends = launcher_.ended();
    const std::size_t before = running_.size();
    for (auto run = running_.begin(); run != running_.end();) {
      const auto end = std::ranges::find(ends, run->worker(), &WorkerEnd::worker);
      if (ask_for_news && run->just_begun()) tell(RunEvent::Kind::started, run->index());
      if (ask_for_news || end != ends.end())
        if (const auto progress = run->news()) tell({RunEvent::Kind::progress, run->index(), *progress, {}});
      if (end == ends.end()) {
        ++run;
        continue;
      }
      const RunEvent event = run->verdict(*end, stopping_);
      if (event.kind == RunEvent::Kind::elsewhere) elsewhere_.push_back(event.run);
      if (event.kind == RunEvent::Kind::finished && !launcher_.outlives()) clear_finished(runs_[event.run]);
      tell(event);
      run = running_.erase(run);
    }
    if (running_.size() < before) share_free_cores();
    return running_.size() < before;
  }

  std::span<const RunFolder> runs_;
  Launcher& launcher_;
  Allocation allocation_;
  const std::function<void(const RunEvent&)>& on_event_;
  std::deque<std::size_t> waiting_;
  std::vector<std::size_t> elsewhere_;
  std::vector<Running> running_;
  ExecutionSummary executed_;
  bool stopping_ = false;
  Clock::time_point next_look_ = Clock::now(), next_news_ = Clock::now();
};

// The claim is not considered: another process may hold the claim of a finished run only to see that nothing remains.
bool is_finished(const RunFolder& run) { return state_of_claimed(run) == RunState::finished; }

} // namespace

int Allocation::threads_of_next(int used, int to_start) const {
  return cores == 0 ? threads : std::clamp((cores - used) / std::max(1, to_start), 1, std::max(1, most));
}

std::string threads_in_words(const Allocation& allocation) {
  const int least = allocation.threads;
  if (allocation.cores > 0 && least < allocation.most && allocation.cores > least * allocation.jobs)
    return fmt::format("{} or {} threads", least, least + 1);
  return fmt::format("{} thread{}", least, plural(least));
}

Allocation allocate_machine(const Machine& machine, std::size_t runs, double bytes_per_run, int jobs, int threads,
                            int useful) {
  const int cores = std::max(1, machine.cores);
  Allocation allocation;
  if (jobs > 0) {
    allocation.jobs = jobs;
  } else {
    allocation.jobs = std::max(1, cores / std::max(1, threads));
    if (runs < static_cast<std::size_t>(allocation.jobs)) allocation.jobs = std::max(1, static_cast<int>(runs));
    if (machine.memory > 0 && bytes_per_run > 0) {
      constexpr double usable = 0.8; // the estimate is rough, and other programs need memory too
      const double fit = std::floor(usable * machine.memory / bytes_per_run);
      if (fit < allocation.jobs) allocation.jobs = std::max(1, static_cast<int>(fit));
    }
  }
  allocation.threads = threads;
  if (threads > 0) return allocation;
  allocation.most = useful > 0 ? std::min(useful, cores) : cores;
  allocation.threads = std::clamp(cores / allocation.jobs, 1, allocation.most);
  allocation.cores = cores;
  return allocation;
}

void clear_finished(const RunFolder& run) {
  try {
    run.progress().remove();
    if (const auto log = run.log().identity(); log && log->size == 0) run.log().remove();
  } catch (const Failed&) { // NOLINT(bugprone-empty-catch): no part of the run
  }
}

std::size_t unfinished(std::span<const RunFolder> runs) {
  return static_cast<std::size_t>(std::ranges::count_if(runs, std::not_fn(is_finished)));
}

Executor::Executor(Launcher& launcher, AllocationFor allocation_for)
    : launcher_(launcher), allocation_for_(std::move(allocation_for)) {}

Executor::Executor(Launcher& launcher, Allocation allocation)
    : Executor(launcher, [allocation](std::size_t) { return allocation; }) {}

Allocation Executor::allocation_for(std::size_t to_do) const {
  const Allocation allocation = allocation_for_(std::max<std::size_t>(to_do, 1));
  return {std::max(1, allocation.jobs), std::max(1, allocation.threads), allocation.cores, allocation.most};
}

ExecutionSummary Executor::execute(std::span<const RunFolder> runs,
                                   const std::function<void(const RunEvent&)>& on_event,
                                   const std::function<bool()>& stop_requested) {
  std::vector<std::size_t> finished;
  std::deque<std::size_t> waiting;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (is_finished(runs[i])) finished.push_back(i);
    else waiting.push_back(i);
  const Allocation allocation = allocation_for(waiting.size());
  Execution execution(runs, std::move(waiting), launcher_, allocation, on_event);
  execution.skip(finished); // at once, so that progress counts include them from the beginning
  return execution.work(stop_requested);
}

} // namespace heed
