#include "experiments/command_line/sweep_events.hpp"

#include "experiments/actions/progress_board.hpp"
#include "experiments/actions/results.hpp"
#include "experiments/actions/sweep_start.hpp"
#include "experiments/command_line/result_output.hpp"
#include "experiments/command_line/run_display.hpp"
#include "experiments/engines/engine.hpp"
#include "experiments/engines/instruction_sets.hpp"
#include "experiments/launch/slurm_launcher.hpp"
#include "experiments/report/numbers.hpp"
#include "experiments/sweep/tuning.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/stop_signals.hpp"

#include <fmt/format.h>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

namespace {

/// What a user must know of Slurm while runs wait there.
class SlurmComplaints {
public:
  /// @param slurm  null for a local sweep
  explicit SlurmComplaints(const SlurmLauncher* slurm) : slurm_(slurm) {}

  /// What is new: each time that Slurm stops or resumes answering, and each obstacle once. An obstacle is a reason for
  /// which runs may wait for ever.
  std::vector<std::string> news() {
    std::vector<std::string> out;
    if (!slurm_) return out;
    for (const std::string& obstacle : slurm_->obstacles())
      if (told_.insert(obstacle).second)
        out.push_back(fmt::format("{}; it may wait forever: scancel it, request less, and start again", obstacle));
    if (slurm_->complaint() == complaint_) return out;
    complaint_ = slurm_->complaint();
    out.push_back(complaint_.empty() ? "Slurm answers again"
                                     : fmt::format("Slurm does not answer ({}); jobs in Slurm continue", complaint_));
    return out;
  }

private:
  const SlurmLauncher* slurm_;
  std::string complaint_;
  std::set<std::string> told_;
};

/// Shows a sweep's progress on standard error. Ctrl-C stops a local sweep; for a sweep in Slurm, it only stops the
/// display.
class ShownSweep : public SweepEvents {
public:
  /// Searches for an older sweep that this sweep supersedes, so construct it before the plan is frozen.
  /// @param slurm  the launcher of a sweep in Slurm; null for a local sweep
  ShownSweep(const Preparation& prepared, const std::filesystem::path& out, const SlurmLauncher* slurm,
             Console& console)
      : prepared_(prepared), out_(out), slurm_(slurm), console_(console), complaints_(slurm),
        superseded_(find_superseded_sweep(prepared.plan, out)) {}

  void ready(const SweepStart& start) override {
    const Plan& plan = start.plan;
    const std::size_t to_do = start.to_do;
    print(console_.err, "{}  {}\n", console_.err_style.bold(plan.name), start_in_words(start));
    if (superseded_)
      for (const std::string& line : superseded_in_words(*superseded_, plan, out_))
        print(console_.err, "{}\n", fitted(line, console_));
    const std::string pinned = plan.frozen ? plan.frozen->kernels : "";
    if (to_do > 0) {
      for (const PreparedArm& arm : prepared_.arms)
        engine(arm.config, instruction_set_of(arm.config, {pinned})); // builds it
      if (const std::string words = instruction_set_in_words(prepared_, pinned, slurm_); !words.empty())
        print(console_.err, "{}\n", fitted(words, console_));
    }
    if (to_do > 0 && slurm_) {
      print(console_.err, "{}\n\n",
            fitted(fmt::format("in Slurm's queue; after Ctrl-C, they stay there and continue{}",
                               plan.tuning ? ", but runs after the tuning are submitted only while this command runs"
                                           : ""),
                   console_));
    } else if (to_do > 0) {
      const Allocation& share = start.share;
      print(console_.err, "{}\n\n",
            fitted(fmt::format("{}{}{}; Ctrl-C: running jobs save a checkpoint and stop",
                               to_do == 1 ? "" : fmt::format("{} at a time, ", share.jobs), threads_in_words(share),
                               to_do == 1 ? "" : " each"),
                   console_));
    }
    console_.err.flush();
    if (to_do == 0) return;
    display_.emplace(console_, board_runs(prepared_, plan));
    waits_.emplace([this](const std::string& what) { display_->say(what); });
    signals_.emplace();
  }

  void heard(const RunEvent& event) override { display_->take(event); }

  void tuned(const Plan& plan) override {
    for (std::size_t a = 0; a < plan.arms.size(); ++a)
      display_->say(fmt::format("tuned {}: {}", plan.arms[a].label, tuning_in_words(*plan.tuning, a)));
  }

  bool stop_requested() override {
    const bool stop = StopSignals::requested();
    if (stop && !slurm_)
      display_->say("stopping: running jobs save a checkpoint first (Ctrl-C again stops them at once)");
    for (const std::string& news : complaints_.news()) display_->say(news);
    display_->tick();
    return stop;
  }

private:
  const Preparation& prepared_;
  const std::filesystem::path& out_;
  const SlurmLauncher* slurm_;
  Console& console_;
  SlurmComplaints complaints_;
  std::optional<SupersededSweep> superseded_;
  std::optional<RunDisplay> display_;
  std::optional<WaitScope> waits_;
  std::optional<StopSignals> signals_;
};

/// Writes a line of JSON for each event of a sweep (RunLine). Ctrl-C acts as in ShownSweep.
class LinesOfSweep : public SweepEvents {
public:
  LinesOfSweep(const Preparation& prepared, const std::filesystem::path& out, const SlurmLauncher* slurm,
               Console& console)
      : prepared_(prepared), out_(out), slurm_(slurm), console_(console), complaints_(slurm),
        superseded_(find_superseded_sweep(prepared.plan, out)) {}

  void ready(const SweepStart& start) override {
    board_.emplace(board_runs(prepared_, start.plan), RunDisplay::steady_seconds());
    each_run(start.plan, [&](const PlannedRun& run, const Trial*) { ids_.push_back(run.id); });
    write({.event = "ready", .text = start_in_words(start)});
    if (superseded_)
      for (const std::string& sentence : superseded_in_words(*superseded_, start.plan, out_)) message(sentence);
    const std::string pinned = start.plan.frozen ? start.plan.frozen->kernels : "";
    if (const std::string words = instruction_set_in_words(prepared_, pinned, slurm_);
        !words.empty() && start.to_do > 0)
      message(words);
    last_progress_.resize(ids_.size());
    waits_.emplace([this](const std::string& what) { message(what); });
    signals_.emplace();
  }

  void heard(const RunEvent& event) override {
    const double now = RunDisplay::steady_seconds();
    board_->take(event, now);
    const bool progresses = event.kind == RunEvent::Kind::progress;
    if (progresses && now - last_progress_.at(event.run) < progress_seconds) return;
    RunLine line{.event = std::string(word_of(event.kind)),
                 .run = ids_.at(event.run),
                 .label = board_->label(event.run),
                 .text = event.reason};
    if (progresses) {
      last_progress_.at(event.run) = now;
      line.step = event.progress.step;
      line.steps = event.progress.steps;
      line.loss = event.progress.loss;
      line.steps_per_second = event.progress.steps_per_second;
    }
    write(std::move(line));
  }

  void tuned(const Plan& plan) override {
    std::size_t at = 0; // the choices decide the replicates' IDs
    each_run(plan, [&](const PlannedRun& run, const Trial*) { ids_.at(at++) = run.id; });
    for (std::size_t a = 0; a < plan.arms.size(); ++a)
      write({.event = "tuned", .label = plan.arms[a].label, .text = tuning_in_words(*plan.tuning, a)});
  }

  bool stop_requested() override {
    for (const std::string& news : complaints_.news()) message(news);
    return StopSignals::requested();
  }

private:
  static constexpr double progress_seconds = 1;

  static std::string_view word_of(RunEvent::Kind kind) {
    switch (kind) {
      case RunEvent::Kind::skipped: return "skipped";
      case RunEvent::Kind::elsewhere: return "elsewhere";
      case RunEvent::Kind::queued: return "queued";
      case RunEvent::Kind::started: return "started";
      case RunEvent::Kind::progress: return "progress";
      case RunEvent::Kind::finished: return "finished";
      case RunEvent::Kind::failed: return "failed";
      case RunEvent::Kind::interrupted: break;
    }
    return "interrupted";
  }

  void message(const std::string& text) { write({.event = "message", .text = text}); }

  void write(RunLine line) {
    line.done = board_->done();
    line.runs = board_->total();
    line.seconds_left = board_->seconds_left(RunDisplay::steady_seconds());
    console_.data << json_line(described::value_of(line));
    console_.data.flush();
  }

  const Preparation& prepared_;
  const std::filesystem::path& out_;
  const SlurmLauncher* slurm_;
  Console& console_;
  SlurmComplaints complaints_;
  std::optional<SupersededSweep> superseded_;
  std::vector<std::string> ids_;
  std::vector<double> last_progress_; ///< of each run
  std::optional<ProgressBoard> board_;
  std::optional<WaitScope> waits_;
  std::optional<StopSignals> signals_;
};

} // namespace

std::unique_ptr<SweepEvents> sweep_events(bool as_json, const Preparation& prepared, const std::filesystem::path& out,
                                          const SlurmLauncher* slurm, Console& console) {
  if (as_json) return std::make_unique<LinesOfSweep>(prepared, out, slurm, console);
  return std::make_unique<ShownSweep>(prepared, out, slurm, console);
}

} // namespace heed
