#include "experiments/sweep/run_sweep.hpp"

#include "autograd/error.hpp"
#include "experiments/runs/run_state.hpp"
#include "experiments/sweep/history.hpp"
#include "experiments/sweep/tuning.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>
#include <vector>

namespace heed {
namespace {

/// Executes a plan: creates its folders, then executes its stages. A stop request ends all stages.
class Sweep {
public:
  Sweep(const Plan& plan, const std::filesystem::path& out, Executor& executor, SweepEvents& events,
        const std::string& kernels)
      : plan_(plan), out_(out), executor_(executor), events_(events), kernels_(kernels) {}

  /// Creates all folders and files that the runs need. No run has started yet, so an error here is heed::Refused.
  void make_folders() {
    try {
      make_output_folder(out_);
      folder_ = freeze(plan_, out_, kernels_);
      Plan frozen = load_plan(folder_);
      plan_.frozen = frozen.frozen;
      executor_.prefer_instruction_set(plan_.frozen ? plan_.frozen->kernels : "");
      if (plan_.tuning) {
        plan_ = std::move(frozen);
        trials_ = folders_of(plan_.tuning->runs);
      }
      if (!to_tune()) replicates_ = folders_of(final_runs(plan_));
    } catch (const Failed& error) {
      throw Refused(error.what());
    }
  }

  void execute() {
    const std::size_t to_do = left();
    const std::size_t first = to_tune() ? unfinished(trials_) : to_do;
    events_.ready({plan_, runs(), to_do, executor_.allocation_for(first)});
    if (to_do == 0) {
      nothing_to_do_ = true;
      for (const auto* runs : {&trials_, &replicates_}) std::ranges::for_each(*runs, clear_finished);
      return;
    }
    if (to_tune()) tune();
    if (!stopped_) {
      if (replicates_.empty()) replicates_ = folders_of(final_runs(plan_));
      execute(replicates_, count_from(trials_.size(), replicates_.size()));
    } else {
      total_.remaining += count_final_runs(plan_);
    }
  }

  SweepResult result() && {
    try {
      record_finished(plan_, out_, folder_);
    } catch (const Failed&) {
      // All results exist. The only loss: if a run is removed later, it is not known that it had finished.
    }
    const std::size_t all = runs(), to_do = nothing_to_do_ ? 0 : left();
    return {std::move(plan_), std::move(folder_), all, to_do, total_};
  }

private:
  bool to_tune() const { return plan_.tuning && !plan_.tuning->settled(); }
  std::size_t runs() const { return trials_.size() + count_final_runs(plan_); }

  /// The number of runs still to execute. Trials count only until the arms have chosen; a trial that failed is then
  /// discarded. Which replicates exist is not known before the choice.
  std::size_t left() const {
    return (to_tune() ? unfinished(trials_) : 0) +
           (replicates_.empty() ? count_final_runs(plan_) : unfinished(replicates_));
  }

  RunFolder folder_of(const PlannedRun& run) const { return prepare_run(out_, run.id, run.config); }

  std::vector<RunFolder> folders_of(const std::vector<PlannedRun>& runs) const {
    std::vector<RunFolder> folders;
    for (const PlannedRun& run : runs) folders.push_back(folder_of(run));
    return folders;
  }

  static std::vector<std::size_t> count_from(std::size_t first, std::size_t count) {
    std::vector<std::size_t> out(count);
    std::iota(out.begin(), out.end(), first);
    return out;
  }

  bool stop_requested() {
    stopped_ = stopped_ || events_.stop_requested();
    return stopped_;
  }

  /// Executes runs; `numbers` are their numbers in the sweep. Returns the indices in `runs` of those that failed.
  std::vector<std::size_t> execute(const std::vector<RunFolder>& runs, const std::vector<std::size_t>& numbers) {
    std::vector<std::size_t> failed;
    if (stopped_) {
      total_.remaining += unfinished(runs);
      return failed;
    }
    const ExecutionSummary executed = executor_.execute(
        runs,
        [&](RunEvent event) {
          if (event.kind == RunEvent::Kind::failed) failed.push_back(event.run);
          event.run = numbers.at(event.run);
          events_.heard(event);
        },
        [&] { return stop_requested(); });
    total_.skipped += executed.skipped;
    total_.finished += executed.finished;
    total_.failed += executed.failed;
    total_.interrupted += executed.interrupted;
    total_.remaining += executed.remaining;
    total_.left += executed.left;
    return failed;
  }

  /// Executes the trials of a tuned sweep, then each arm's choice. A trial that fails is retried once, then discarded:
  /// the first failure may be an accident.
  void tune() {
    const std::vector<std::size_t> failed = execute(trials_, count_from(0, trials_.size()));
    if (!failed.empty() && !stopped_) {
      total_.failed -= failed.size();
      std::vector<RunFolder> again;
      // Its folder may be missing.
      for (const std::size_t run : failed) again.push_back(folder_of(plan_.tuning->runs[run]));
      total_.failed -= execute(again, failed).size(); // the report mentions it; the sweep has not failed
    }
    // Another process may be retrying a trial that failed here, or may have stopped with unfinished trials.
    while (!stopped_ && !settle(plan_, out_, folder_, [&] { return stop_requested(); })) {
      std::vector<RunFolder> open;
      std::vector<std::size_t> numbers;
      for (std::size_t i = 0; i < trials_.size(); ++i)
        if (!has_ended(state_of(trials_[i]))) {
          open.push_back(folder_of(plan_.tuning->runs[i]));
          numbers.push_back(i);
        }
      const std::vector<std::size_t> again = execute(open, numbers);
      total_.failed -= again.size();
      for (const std::size_t run : again)
        if (state_of(open[run]) != RunState::failed)
          throw Failed(
              fmt::format("'{}' failed, and the failure can't be recorded in its folder: the folder was removed, or is "
                          "not writable. Run again, or choose another folder",
                          open[run].path.string()));
    }
    if (!stopped_) events_.tuned(plan_);
  }

  Plan plan_;
  const std::filesystem::path& out_;
  Executor& executor_;
  SweepEvents& events_;
  const std::string& kernels_;
  std::filesystem::path folder_;
  std::vector<RunFolder> trials_, replicates_;
  ExecutionSummary total_;
  bool stopped_ = false, nothing_to_do_ = false;
};

} // namespace

SweepResult run_sweep(const Plan& plan, const std::filesystem::path& out, Executor& executor, SweepEvents& events,
                      const std::string& kernels) {
  Sweep sweep(plan, out, executor, events, kernels);
  sweep.make_folders();
  sweep.execute();
  return std::move(sweep).result();
}

} // namespace heed
