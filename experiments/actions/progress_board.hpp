// The progress of a running sweep: runs, counts, the progress of each run, and the remaining time, as text.
#pragma once

#include "experiments/launch/executor.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/training/training.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heed {

struct BoardRun {
  std::string label; ///< "score = additive, seed 3"
  std::int64_t steps = 0;
  double work = 1; ///< FLOPs, relative to other runs
};

/// Times are in seconds, of any monotonic clock.
class ProgressBoard {
public:
  ProgressBoard(std::vector<BoardRun> runs, double now);

  void take(const RunEvent& event, double now);

  std::size_t total() const { return runs_.size(); }
  /// Number of finished runs, including those that had finished before the start.
  std::size_t done() const { return count(State::done); }
  std::size_t failed() const { return count(State::failed); }
  /// Number of runs that wait in a Slurm queue.
  std::size_t queued() const { return count(State::queued); }
  /// Sets the remaining time, if the caller knows it from another source than this board's clock.
  void know_left(double seconds) { known_left_ = seconds; }

  /// Estimates the remaining time from the work done since the start; empty until enough is known.
  std::optional<double> seconds_left(double now) const;

  /// "12 of 66 runs, 1 failed, 3 min 20 s left".
  std::string headline(double now) const;
  /// A progress bar with the headline, then a line for each running run; each line is at most `width` columns wide.
  std::vector<std::string> lines(double now, std::size_t width) const;
  /// One line without a bar: the headline, and the running runs' steps and losses.
  std::string plain_line(double now) const;

  const std::string& label(std::size_t run) const { return runs_.at(run).about.label; }
  /// The line for RunEvent::Kind::elsewhere.
  std::string elsewhere_in_words(const RunEvent& event) const;

private:
  enum class State { waiting, elsewhere, queued, running, done, failed, stopped };
  struct Entry {
    BoardRun about;
    State state = State::waiting;
    Progress progress;
    std::optional<double> base; ///< the fraction that was done before this start, 0 to 1
    bool before = false;        ///< finished before this start
  };
  std::size_t count(State state) const;
  double fraction(const Entry& entry) const;
  std::string at(const Entry& entry) const;

  std::vector<Entry> runs_;
  double start_;
  std::optional<double> known_left_;
};

/// All runs in the order of the progress display: the tuning runs, then the replicates.
std::vector<BoardRun> board_runs(const Preparation& prepared, const Plan& plan);

/// "66 runs: 11 arms, 6 seeds; 12 done before": what a sweep says when it starts.
std::string start_in_words(const SweepStart& start);

} // namespace heed
