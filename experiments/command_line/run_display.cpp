#include "experiments/command_line/run_display.hpp"

#include "experiments/report/text_table.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace heed {

namespace {
constexpr double redraw_seconds = 0.2;
constexpr double plain_seconds = 30;
} // namespace

double RunDisplay::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TerminalSize RunDisplay::error_terminal_size() { return terminal_size(STDERR_FILENO); }

RunDisplay::RunDisplay(Console& console, std::vector<BoardRun> runs, std::function<double()> clock,
                       std::function<TerminalSize()> size)
    : console_(console), clock_(std::move(clock)), board_(std::move(runs), clock_()), last_shown_(clock_()),
      size_(std::move(size)) {}

RunDisplay::~RunDisplay() { clear(); }

void RunDisplay::take(const RunEvent& event) {
  const double now = clock_();
  board_.take(event, now);
  changed_ = true;
  switch (event.kind) {
    case RunEvent::Kind::finished:
      if (!console_.live) say(fmt::format("finished {}; {}", board_.label(event.run), board_.headline(now)));
      break;
    case RunEvent::Kind::failed:
      say(fmt::format("{} {}: {}", console_.err_style.red("failed"), board_.label(event.run), event.reason));
      break;
    case RunEvent::Kind::elsewhere: say(board_.elsewhere_in_words(event)); break;
    case RunEvent::Kind::interrupted:
      if (!event.reason.empty()) say(fmt::format("interrupted {}: {}", board_.label(event.run), event.reason));
      break;
    case RunEvent::Kind::skipped:
    case RunEvent::Kind::queued:
    case RunEvent::Kind::started:
    case RunEvent::Kind::progress: break;
  }
  tick();
}

void RunDisplay::tick() {
  const double now = clock_();
  if (console_.live) {
    if (changed_ && (drawn_.empty() || now - last_shown_ >= redraw_seconds)) draw(now);
  } else if (now - last_shown_ >= plain_seconds) {
    say(board_.plain_line(now));
  }
}

void RunDisplay::say(const std::string& line) {
  clear();
  print(console_.err, "{}\n", fitted(line, console_.live ? size_now().columns : 0, console_.program));
  console_.err.flush();
  if (!console_.live) last_shown_ = clock_();
}

TerminalSize RunDisplay::size_now() const {
  const TerminalSize size = size_();
  return {size.columns > 0 ? size.columns : std::max<std::size_t>(console_.width, 1), size.rows};
}

// If a terminal becomes narrower, it wraps lines that are longer than its new width.
std::size_t RunDisplay::rows_drawn(std::size_t columns) const {
  std::size_t rows = 0;
  for (const std::size_t width : drawn_) rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  return rows;
}

std::string RunDisplay::upwards(std::size_t rows) const {
  return console_.err_style.command("\r") + console_.err_style.command(fmt::format("\033[{}A", rows));
}

void RunDisplay::clear() {
  if (drawn_.empty()) return;
  // Moves up to the first drawn line and erases everything from there.
  console_.err << upwards(rows_drawn(size_now().columns)) + console_.err_style.command("\033[J");
  console_.err.flush();
  drawn_.clear();
}

void RunDisplay::draw(double now) {
  const TerminalSize size = size_now();
  std::vector<std::string> lines = board_.lines(now, std::max<std::size_t>(size.columns, 2) - 1);
  // Lines that have scrolled off the top of the screen cannot be redrawn.
  if (size.rows > 1 && lines.size() >= size.rows) lines.resize(size.rows - 1);
  // Writes everything at once and erases each line as it is replaced, so that the display does not flicker.
  std::string text;
  if (!drawn_.empty()) text += upwards(rows_drawn(size.columns));
  for (const std::string& line : lines) text += line + console_.err_style.command("\033[K") + "\n";
  text += console_.err_style.command("\033[J");
  console_.err << text;
  console_.err.flush();
  drawn_.clear();
  for (const std::string& line : lines) drawn_.push_back(display_width(line));
  last_shown_ = now;
  changed_ = false;
}

} // namespace heed
