#include "experiments/sweep/executor.hpp"

#include <algorithm>
#include <cerrno>
#include <boost/process/args.hpp>
#include <boost/process/child.hpp>
#include <boost/process/exe.hpp>
#include <boost/process/extend.hpp>
#include <boost/process/io.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace heed {
namespace {

namespace process = boost::process;
using Clock = std::chrono::steady_clock;

/// Whole lines at the end of a text, the last `count` that say something, as one line.
std::string last_lines(std::string_view text, std::size_t count) {
  std::deque<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.emplace_back(line);
    if (lines.size() > count) lines.pop_front();
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return fmt::format("{}", fmt::join(lines, " / "));
}

std::string signal_in_words(int signal) {
  const char* name = strsignal(signal);
  std::string text = fmt::format("crashed with signal {} ({})", signal, name ? name : "unknown");
  if (signal == SIGKILL)
    text = "was killed (signal 9), often for want of memory; run fewer at once (--jobs), or make the model smaller";
  return text;
}

/// A process that crashed could not note why; what it left behind otherwise stays.
void note_crash(const RunFolder& run, const std::string& reason) {
  try {
    const auto claim = RunClaim::attempt(run);
    if (!claim) return;
    Manifest manifest = read_manifest(run).value.value_or(Manifest{});
    manifest.run = run.id();
    manifest.outcome = "failed";
    manifest.failure = reason;
    write_file(run.manifest(), to_json(manifest));
  } catch (const Failed&) {
    // The event says it in any case.
  }
}

/// A run whose process is there.
class Running {
public:
  /// Throws heed::Failed where no process can be started.
  Running(std::size_t index, const RunFolder& run, const std::filesystem::path& program, int threads)
      : index_(index), run_(run), manifest_before_(bytes_of_manifest()) {
    std::error_code error;
    const auto log_size = std::filesystem::file_size(run.log(), error);
    log_before_ = error ? 0 : static_cast<std::size_t>(log_size);
    progress_written_ = progress_time();

    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> log(std::fopen(run.log().c_str(), "ae"), std::fclose);
    if (!log) throw Failed(fmt::format("cannot write '{}': {}", run.log().string(), std::strerror(errno)));
    error.clear();  // Boost sets it only when something fails
    const std::vector<std::string> arguments{"worker", run.path.string(), "--threads", fmt::format("{}", threads)};
    child_ = process::child(process::exe = program.string(), process::args = arguments, process::std_in < process::null,
                            (process::std_out & process::std_err) > log.get(), error,
                            process::extend::on_exec_setup = [](auto&) {
                              // Ctrl-C reaches the sweep alone, which then asks its runs to stop; should it die
                              // without a word, they are asked all the same.
                              ::setpgid(0, 0);
                              ::prctl(PR_SET_PDEATHSIG, SIGTERM);
                            });
    if (error) throw Failed(fmt::format("cannot start '{}': {}", program.string(), error.message()));
  }

  std::size_t index() const { return index_; }
  void ask_to_stop() { ::kill(child_.id(), SIGTERM); }

  bool ended() {
    std::error_code error;
    return !child_.running(error) || error;
  }

  /// The newest progress, if it is newer than at the last call.
  std::optional<Progress> news() {
    const auto written = progress_time();
    if (written == progress_written_) return std::nullopt;
    progress_written_ = written;
    const auto bytes = read_file(run_.progress());
    if (!bytes) return std::nullopt;
    const auto progress = progress_from_json(*bytes);
    return progress ? progress.value : std::nullopt;
  }

  /// How it ended, or that another process has taken it on since. @param stopping  it was asked to
  RunEvent verdict(bool stopping) {
    RunEvent event;
    event.run = index_;
    const int status = child_.native_exit_code();
    const RunState state = state_of_claimed(run_);
    const bool recorded = bytes_of_manifest() != manifest_before_;  // else the manifest tells of an earlier start
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && state == RunState::finished) {
      event.kind = RunEvent::Kind::finished;
    } else if (!stopping && state != RunState::finished && RunClaim::held(run_)) {
      event.kind = RunEvent::Kind::elsewhere;  // what its files say is the other one's
    } else if (WIFSIGNALED(status)) {
      const bool asked = stopping && WTERMSIG(status) == SIGTERM;  // before it could listen
      event.kind = asked ? RunEvent::Kind::interrupted : RunEvent::Kind::failed;
      event.reason = with_log(signal_in_words(WTERMSIG(status)));
      if (!asked) note_crash(run_, event.reason);
    } else if ((recorded && state == RunState::interrupted) || (stopping && !recorded)) {
      event.kind = RunEvent::Kind::interrupted;
    } else {
      event.kind = RunEvent::Kind::failed;
      const auto manifest = read_manifest(run_);
      event.reason = recorded && manifest && !manifest->failure.empty()
                         ? manifest->failure
                         : with_log(fmt::format("ended with status {}", WEXITSTATUS(status)));
    }
    return event;
  }

private:
  std::string bytes_of_manifest() const { return read_file(run_.manifest()).value.value_or(""); }

  std::filesystem::file_time_type progress_time() const {
    std::error_code error;
    return std::filesystem::last_write_time(run_.progress(), error);
  }

  std::string with_log(const std::string& what) const {
    const auto log = read_file(run_.log());
    const std::string last = log && log->size() > log_before_ ? last_lines(log->substr(log_before_), 3) : "";
    return last.empty() ? what : fmt::format("{}; its last words: {}", what, last);
  }

  std::size_t index_;
  RunFolder run_;
  std::string manifest_before_;
  std::size_t log_before_ = 0;
  std::filesystem::file_time_type progress_written_;
  process::child child_;
};

/// One call of LocalExecutor::execute.
class Execution {
public:
  Execution(std::span<const RunFolder> runs, const std::function<void(const RunEvent&)>& on_event)
      : runs_(runs), on_event_(on_event) {
    for (std::size_t i = 0; i < runs.size(); ++i) waiting_.push_back(i);
  }

  Executed work(const std::filesystem::path& program, int jobs, int threads,
                const std::function<bool()>& stop_requested) {
    for (;;) {
      if (!stopping_ && stop_requested()) stop();
      if (!stopping_) {
        look_elsewhere();
        fill(program, static_cast<std::size_t>(jobs), threads);
      }
      if (running_.empty() && (stopping_ || (waiting_.empty() && elsewhere_.empty()))) break;
      attend();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    executed_.remaining = waiting_.size() + elsewhere_.size();
    return executed_;
  }

private:
  void stop() {
    stopping_ = true;
    for (const auto& run : running_) run->ask_to_stop();
  }

  void tell(RunEvent event) {
    switch (event.kind) {
      case RunEvent::Kind::skipped: ++executed_.skipped; break;
      case RunEvent::Kind::finished: ++executed_.finished; break;
      case RunEvent::Kind::failed: ++executed_.failed; break;
      case RunEvent::Kind::interrupted: ++executed_.interrupted; break;
      default: break;
    }
    on_event_(event);
  }
  void tell(RunEvent::Kind kind, std::size_t run, std::string reason = {}) {
    tell({kind, run, {}, std::move(reason)});
  }

  /// Starts what can be started, in order.
  void fill(const std::filesystem::path& program, std::size_t jobs, int threads) {
    while (running_.size() < jobs && !waiting_.empty()) {
      const std::size_t next = waiting_.front();
      waiting_.pop_front();
      const RunState state = state_of(runs_[next]);
      if (state == RunState::finished) {
        tell(RunEvent::Kind::skipped, next);
      } else if (state == RunState::running) {
        elsewhere_.push_back(next);
        tell(RunEvent::Kind::elsewhere, next);
      } else {
        start(next, program, threads);
      }
    }
  }

  void start(std::size_t next, const std::filesystem::path& program, int threads) {
    try {
      running_.push_back(std::make_unique<Running>(next, runs_[next], program, threads));
      tell(RunEvent::Kind::started, next);
    } catch (const Failed& error) {
      tell(RunEvent::Kind::failed, next, error.what());
    }
  }

  /// Runs of other processes that have ended since: done is done; what they left unfinished is ours to finish.
  void look_elsewhere() {
    if (const auto now = Clock::now(); now < next_look_) return;
    else next_look_ = now + std::chrono::milliseconds(500);
    std::erase_if(elsewhere_, [&](std::size_t run) {
      const RunState state = state_of(runs_[run]);
      if (state == RunState::running) return false;
      const auto manifest = read_manifest(runs_[run]);
      if (state == RunState::finished) tell(RunEvent::Kind::skipped, run);
      else if (state == RunState::failed) tell(RunEvent::Kind::failed, run, manifest ? manifest->failure : "");
      else waiting_.push_front(run);
      return true;
    });
  }

  /// Hears of those that run, and parts with those that ended.
  void attend() {
    const auto now = Clock::now();
    const bool ask_for_news = now >= next_news_;
    if (ask_for_news) next_news_ = now + std::chrono::milliseconds(200);
    for (std::size_t i = 0; i < running_.size();) {
      Running& run = *running_[i];
      const bool ended = run.ended();
      if (ask_for_news || ended)
        if (const auto progress = run.news()) tell({RunEvent::Kind::progress, run.index(), *progress, {}});
      if (!ended) {
        ++i;
        continue;
      }
      const RunEvent event = run.verdict(stopping_);
      if (event.kind == RunEvent::Kind::elsewhere) elsewhere_.push_back(event.run);
      tell(event);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  std::span<const RunFolder> runs_;
  const std::function<void(const RunEvent&)>& on_event_;
  std::deque<std::size_t> waiting_;
  std::vector<std::size_t> elsewhere_;
  std::vector<std::unique_ptr<Running>> running_;
  Executed executed_;
  bool stopping_ = false;
  Clock::time_point next_look_ = Clock::now(), next_news_ = Clock::now();
};

} // namespace

LocalExecutor::LocalExecutor(std::filesystem::path program, int jobs, int threads)
    : program_(std::move(program)), jobs_(std::max(1, jobs)), threads_(std::max(1, threads)) {}

Executed LocalExecutor::execute(std::span<const RunFolder> runs, const std::function<void(const RunEvent&)>& on_event,
                                const std::function<bool()>& stop_requested) {
  return Execution(runs, on_event).work(program_, jobs_, threads_, stop_requested);
}

} // namespace heed
