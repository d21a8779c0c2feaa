// Shows a sweep under way: on a terminal lines that are drawn again in place, elsewhere a plain line now and then.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/command_line/progress_board.hpp"
#include "experiments/command_line/terminal_size.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace heed {

class RunDisplay {
public:
  /// @param clock  seconds; a test passes its own
  /// @param size   of the terminal now, since a window may change while it runs; a test passes its own
  RunDisplay(Console& console, std::vector<BoardRun> runs, std::function<double()> clock = steady_seconds,
             std::function<TerminalSize()> size = error_terminal_size);
  ~RunDisplay();
  RunDisplay(const RunDisplay&) = delete;
  RunDisplay& operator=(const RunDisplay&) = delete;

  void take(const RunEvent& event);
  /// To be called often: draws at most five times a second, or prints a line at least every 30 seconds.
  void tick();
  /// A line that stays.
  void say(const std::string& line);
  /// Takes the drawn lines away.
  void clear();

  const ProgressBoard& board() const { return board_; }

  static double steady_seconds();
  static TerminalSize error_terminal_size();

private:
  void draw(double now);
  /// Rows that the last drawing takes in a terminal of so many columns, which may be fewer than it was drawn for.
  std::size_t rows_drawn(std::size_t columns) const;
  TerminalSize size_now() const;
  /// The command that takes the cursor up, to the beginning of a line.
  std::string upwards(std::size_t rows) const;

  Console& console_;
  std::function<double()> clock_;
  ProgressBoard board_;
  double last_shown_;
  std::function<TerminalSize()> size_;
  std::vector<std::size_t> drawn_; ///< columns of each line of the last drawing
  bool changed_ = true;
};

} // namespace heed
