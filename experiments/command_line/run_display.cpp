#include "experiments/command_line/run_display.hpp"

#include <chrono>
#include <fmt/ostream.h>
#include <utility>

namespace heed {

namespace {
constexpr double redraw_seconds = 0.2;
constexpr double plain_seconds = 30;
} // namespace

double RunDisplay::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

RunDisplay::RunDisplay(Console& console, std::vector<BoardRun> runs, std::function<double()> clock)
    : console_(console), clock_(std::move(clock)), board_(std::move(runs), clock_()), last_shown_(clock_()) {}

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
  case RunEvent::Kind::elsewhere:
    say(fmt::format("{} is being run by another process; looking at it again later", board_.label(event.run)));
    break;
  case RunEvent::Kind::skipped:
  case RunEvent::Kind::started:
  case RunEvent::Kind::progress:
  case RunEvent::Kind::interrupted: break;
  }
  tick();
}

void RunDisplay::tick() {
  const double now = clock_();
  if (console_.live) {
    if (changed_ && (drawn_ == 0 || now - last_shown_ >= redraw_seconds)) draw(now);
  } else if (now - last_shown_ >= plain_seconds) {
    say(board_.plain_line(now));
  }
}

void RunDisplay::say(const std::string& line) {
  clear();
  fmt::print(console_.err, "{}\n", line);
  console_.err.flush();
  if (!console_.live) last_shown_ = clock_();
}

void RunDisplay::clear() {
  if (drawn_ == 0) return;
  // Up to the first drawn line, and from there on nothing.
  fmt::print(console_.err, "\r\033[{}A\033[J", drawn_);
  console_.err.flush();
  drawn_ = 0;
}

void RunDisplay::draw(double now) {
  const std::vector<std::string> lines = board_.lines(now, console_.width > 1 ? console_.width - 1 : 1);
  // One write, lines erased as they are replaced, so that nothing flickers.
  std::string text;
  if (drawn_ > 0) text += fmt::format("\r\033[{}A", drawn_);
  for (const std::string& line : lines) text += line + "\033[K\n";
  text += "\033[J";
  console_.err << text;
  console_.err.flush();
  drawn_ = lines.size();
  last_shown_ = now;
  changed_ = false;
}

} // namespace heed
