// heed slurm-task: executes the runs of one Slurm array task, one after the other. Slurm starts it, users don't.
#include "autograd/error.hpp"
#include "experiments/command_line/commands.hpp"
#include "experiments/launch/executor.hpp"
#include "experiments/launch/local_launcher.hpp"
#include "experiments/launch/slurm_queue.hpp"
#include "experiments/system/bounds.hpp"
#include "experiments/system/lease.hpp"
#include "experiments/system/stop_signals.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>

namespace heed {

namespace {

using Clock = std::chrono::steady_clock;

/// The exit status of a task that was stopped before all its runs were done (EX_TEMPFAIL). If slurm.conf has
/// RequeueExit=75, Slurm requeues the task.
constexpr int begin_again = 75;

struct TaskArguments {
  std::string file;
  std::int64_t task = -1;
};

std::int64_t number_in(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return otherwise;
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  return *end == '\0' ? value : otherwise;
}

/// The time at which a task stops, so that it can save its checkpoints before its time limit.
class Deadline {
public:
  explicit Deadline(double seconds) {
    constexpr double longest = 60, part = 0.2;
    if (seconds > 0)
      stop_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                 std::chrono::duration<double>(seconds - std::min(longest, part * seconds)));
  }
  bool near() const { return stop_ && Clock::now() >= *stop_; }

private:
  std::optional<Clock::time_point> stop_;
};

class SlurmTaskRuns {
public:
  SlurmTaskRuns(const Submission& submission, std::int64_t number, const std::filesystem::path& out, Console& console)
      : submission_(submission), number_(number), out_(out), console_(console),
        executor_(launcher_, Allocation{1, submission.threads}), deadline_(submission.seconds) {
    launcher_.prefer_instruction_set(submission.kernels);
    for (const std::string& id : submission.tasks.at(static_cast<std::size_t>(number))) runs_.push_back({out / id});
  }

  int execute() {
    print(console_.out, "heed slurm-task: begins {} of {}, {} run{}\n", number_, submission_.name, runs_.size(),
          plural(runs_.size()));
    console_.out.flush();
    note_begin();
    for (const RunFolder& run : runs_) {
      if (stop()) break;
      one(run);
    }
    if (!stop()) return failed_ ? 1 : 0;
    if (deadline_.near()) note_end();
    print(console_.out, "heed slurm-task: stopped, {}\n",
          deadline_.near() ? "because its time limit is reached" : "as requested");
    return begin_again;
  }

private:
  bool stop() { return stopped_ = stopped_ || StopSignals::requested() || deadline_.near(); }

  /// Records in each run's queue mark how often the task has started, because a requeued task waits again with runs
  /// half done.
  void note_begin() {
    for (const RunFolder& run : runs_)
      if (auto mark = own_mark(run)) {
        mark->begun += 1;
        write_queue_mark(run, *mark);
      }
  }

  /// Records why the task ended, because Slurm only knows its exit status.
  void note_end() {
    for (const RunFolder& run : runs_)
      if (auto mark = own_mark(run)) {
        mark->ended = ending_in_words("TIMEOUT");
        mark->details = fmt::format("job {}_{}; it resumes from its last checkpoint; request more time with slurm.time",
                                    number_in("SLURM_ARRAY_JOB_ID", 0), number_);
        write_queue_mark(run, *mark);
      }
  }

  /// The run's queue mark, or none if the run has ended or was submitted again since.
  std::optional<QueueMark> own_mark(const RunFolder& run) const {
    auto mark = read_queue_mark(run);
    if (mark && (mark->submission != submission_.name || mark->task != number_ || !mark->ended.empty())) mark.reset();
    return mark;
  }

  void one(const RunFolder& run) {
    const auto owner = Lease::owner(run.claim());
    // If the claim is from an earlier start of this task, on a node that died, the executor waits until the run is
    // free.
    if (owner && owner->job != this_process().job) {
      say(run, "is run by another process");
      return;
    }
    const ExecutionSummary executed = executor_.execute(
        std::vector{run}, [&](const RunEvent& event) { hear(run, event); }, [&] { return stop(); });
    failed_ = failed_ || executed.failed > 0;
    if (executed.finished + executed.skipped + executed.failed > 0) leave_queue(run);
    if (executed.interrupted > 0) stopped_ = true; // the worker's signal was meant for the task
  }

  void hear(const RunFolder& run, const RunEvent& event) {
    switch (event.kind) {
      case RunEvent::Kind::skipped: say(run, "was finished before"); break;
      case RunEvent::Kind::started: say(run, "begins"); break;
      case RunEvent::Kind::finished: say(run, "finished"); break;
      case RunEvent::Kind::failed: say(run, "failed: " + event.reason); break;
      case RunEvent::Kind::interrupted: say(run, "stopped"); break;
      default: break;
    }
  }

  void say(const RunFolder& run, const std::string& what) {
    print(console_.out, "heed slurm-task: run {} {}\n", run.id(), what);
    console_.out.flush();
  }

  const Submission& submission_;
  std::int64_t number_;
  std::filesystem::path out_;
  Console& console_;
  LocalLauncher launcher_;
  Executor executor_;
  Deadline deadline_;
  std::vector<RunFolder> runs_;
  bool failed_ = false, stopped_ = false;
};

int task(const TaskArguments& arguments, Console& console) {
  const StopSignals signals(true);
  const std::filesystem::path file = std::filesystem::absolute(arguments.file).lexically_normal();
  const std::filesystem::path out = file.parent_path().parent_path().parent_path();
  const auto bytes = OutputFile(out, file.lexically_relative(out)).read(largest_manifest);
  if (!bytes) throw Refused(bytes.error);
  const auto submission = submission_from_json(*bytes);
  if (!submission) throw Refused(fmt::format("'{}' is damaged: {}", arguments.file, submission.error));
  if (file != Submission::file(out, submission->name).path())
    throw Refused(fmt::format(
        "'{}' is not the path of a submission; give OUT/slurm/{}/submission.json, where OUT is the folder of the runs",
        arguments.file, submission->name));
  const std::int64_t number = arguments.task >= 0 ? arguments.task : number_in("SLURM_ARRAY_TASK_ID", 0);
  if (number < 0 || number >= static_cast<std::int64_t>(submission->tasks.size()))
    throw Refused(fmt::format("{}: it has no task {}, but {}", arguments.file, number, submission->tasks.size()));
  return SlurmTaskRuns(*submission, number, out, console).execute();
}

} // namespace

void add_slurm_task(Commands& commands) {
  add_command<TaskArguments>(
      commands, "slurm-task", "executes the runs of a cluster's task", "",
      [](Command& command, TaskArguments& arguments) {
        command.add("FILE TEXT", arguments.file, "a submission").required();
        command.add("--task", arguments.task, "which of its tasks [SLURM_ARRAY_TASK_ID]");
      },
      task)
      .hide();
}

} // namespace heed
