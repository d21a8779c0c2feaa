// Shows a sweep under way: on a terminal lines that are drawn again in place, elsewhere a plain line now and then.
#pragma once

#include "experiments/command_line/console.hpp"
#include "experiments/command_line/progress_board.hpp"

#include <functional>
#include <string>

namespace heed {

class RunDisplay {
public:
  /// @param clock  seconds; a test passes its own
  RunDisplay(Console& console, std::vector<BoardRun> runs, std::function<double()> clock = steady_seconds);
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

private:
  void draw(double now);

  Console& console_;
  std::function<double()> clock_;
  ProgressBoard board_;
  double last_shown_;
  std::size_t drawn_ = 0;              ///< lines of the last drawing
  bool changed_ = true;
};

} // namespace heed
