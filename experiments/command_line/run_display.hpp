// Displays the progress of a running sweep: on a terminal as lines that are redrawn in place, otherwise as occasional
// plain lines.
#pragma once

#include "experiments/actions/progress_board.hpp"
#include "experiments/command_line/console.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heed {

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

} // namespace heed
