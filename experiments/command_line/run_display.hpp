// Displays the progress of a running sweep: on a terminal as lines that are redrawn in place, otherwise as occasional
// plain lines. The board has the state: runs, counts, the progress of each run, and the remaining time; it returns text
// and draws nothing. Reports the state of runs in a Slurm queue.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/launch/executor.hpp"
#include "experiments/sweep/preparation.hpp"
#include "experiments/sweep/run_sweep.hpp"
#include "experiments/training/training.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
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

class RunDisplay {
public:
  /// @param clock  returns seconds; tests pass their own
  /// @param size   returns the terminal's current size, because a window can be resized; tests pass their own
  RunDisplay(Console& console, std::vector<BoardRun> runs, std::function<double()> clock = steady_seconds,
             std::function<TerminalSize()> size = error_terminal_size);
  ~RunDisplay();
  RunDisplay(const RunDisplay&) = delete;
  RunDisplay& operator=(const RunDisplay&) = delete;

  void take(const RunEvent& event);
  /// Must be called often: redraws at most five times a second, or prints a line at least every 30 seconds.
  void tick();
  /// Prints a permanent line.
  void say(const std::string& line);
  /// Erases the drawn lines.
  void clear();

  const ProgressBoard& board() const { return board_; }

  static double steady_seconds();
  static TerminalSize error_terminal_size();

private:
  void draw(double now);
  /// The number of rows that the last drawing occupies in a terminal with this number of columns. The terminal may be
  /// narrower now than when the lines were drawn.
  std::size_t rows_drawn(std::size_t columns) const;
  TerminalSize size_now() const;
  /// The control sequence that moves the cursor up to the beginning of a line.
  std::string upwards(std::size_t rows) const;

  Console& console_;
  std::function<double()> clock_;
  ProgressBoard board_;
  double last_shown_;
  std::function<TerminalSize()> size_;
  std::vector<std::size_t> drawn_; ///< width in columns of each line of the last drawing
  bool changed_ = true;
};

/// Asks Slurm for the queued runs of the folder, and records in the run folders how jobs have ended. Returns lines of
/// text: which runs wait and why, which run and where, which were requeued, and how the others ended (cancelled, time
/// limit, out of memory, ...). Empty if no run was ever submitted to a queue.
/// @param name_of  the displayed name of a run, given its ID
std::string queue_report(const std::filesystem::path& out,
                         const std::function<std::string(const std::string& id)>& name_of);

} // namespace heed
