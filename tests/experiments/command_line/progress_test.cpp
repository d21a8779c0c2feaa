// Tests of the progress display of a running sweep.
#include "experiments/actions/progress_board.hpp"
#include "experiments/command_line/run_display.hpp"
#include "experiments/report/text_table.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace heed;
using test::contains;
using Kind = RunEvent::Kind;

namespace {

RunEvent event(Kind kind, std::size_t run) {
  RunEvent e;
  e.kind = kind;
  e.run = run;
  return e;
}

RunEvent progress(std::size_t run, std::int64_t step, double loss = 1.5) {
  RunEvent e = event(Kind::progress, run);
  e.progress = {step, 100, loss, 50};
  return e;
}

std::vector<BoardRun> four_runs() { return {{"a", 100, 1}, {"b", 100, 1}, {"c", 100, 1}, {"d", 100, 1}}; }

} // namespace

TEST_CASE("the board counts what is done and what failed", "[command_line]") {
  ProgressBoard board(four_runs(), 0);
  board.take(event(Kind::skipped, 0), 0);
  board.take(event(Kind::finished, 1), 1);
  board.take(event(Kind::failed, 2), 1);
  CHECK(board.done() == 2);
  CHECK(board.failed() == 1);
  CHECK(contains(board.headline(1), "2 of 4 runs, 1 failed"));
}

TEST_CASE("the time left follows from the work of this start alone", "[command_line]") {
  ProgressBoard board(four_runs(), 0);
  CHECK_FALSE(board.seconds_left(10));
  board.take(event(Kind::skipped, 0), 0);
  CHECK_FALSE(board.seconds_left(10));
  board.take(event(Kind::started, 1), 0);
  board.take(event(Kind::finished, 1), 10);
  CHECK(*board.seconds_left(10) == Approx(20));
  board.take(progress(2, 0), 10);
  board.take(progress(2, 50), 15);
  CHECK(*board.seconds_left(15) == Approx(15));
}

TEST_CASE("a run that continues a checkpoint is not taken for a fast one", "[command_line]") {
  ProgressBoard board({{"a", 100, 1}}, 0);
  board.take(progress(0, 50), 0);
  CHECK_FALSE(board.seconds_left(1));
  board.take(progress(0, 75), 10);
  CHECK(*board.seconds_left(10) == Approx(10));
}

TEST_CASE("runs weigh by their work", "[command_line]") {
  ProgressBoard board({{"small", 100, 1}, {"large", 100, 9}}, 0);
  board.take(event(Kind::finished, 0), 2);
  CHECK(*board.seconds_left(2) == Approx(18));
}

TEST_CASE("each running run has its line, cut to the terminal", "[command_line]") {
  ProgressBoard board({{"score = additive, seed 3", 100, 1}, {"b", 100, 1}}, 0);
  board.take(event(Kind::started, 1), 0);
  board.take(progress(0, 40, 1.25), 1);
  const auto lines = board.lines(1, 100);
  REQUIRE(lines.size() == 3);
  CHECK(contains(lines[1], "score = additive, seed 3"));
  CHECK(contains(lines[1], "step 40 of 100  loss 1.2500  50 steps/s"));
  CHECK(contains(lines[2], "starting"));
  for (const std::string& line : board.lines(1, 30)) CHECK(display_width(line) <= 30);
}

TEST_CASE("without a terminal there are plain lines: at each end, and every 30 seconds", "[command_line]") {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  double now = 0;
  RunDisplay display(console, four_runs(), [&] { return now; });
  display.take(event(Kind::started, 0));
  now = 29;
  display.take(progress(0, 10));
  CHECK(err.str().empty());
  now = 31;
  display.take(progress(0, 20));
  CHECK(contains(err.str(), "0 of 4 runs"));
  CHECK(contains(err.str(), "a: step 20 of 100  loss 1.5000"));
  display.take(event(Kind::finished, 0));
  CHECK(contains(err.str(), "finished a; 1 of 4 runs"));
  CHECK_FALSE(contains(err.str(), "\033"));
  CHECK(out.str().empty());
}

namespace {

/// A minimal terminal that wraps long lines again when its width changes. It has rows of text and a cursor that moves
/// up and left and erases.
class SmallTerminal {
public:
  explicit SmallTerminal(std::size_t columns) : columns_(columns) {}

  void write(const std::string& text) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\r') column_ = 0;
      else if (text[i] == '\n') {
        ++row_;
        column_ = 0;
        if (row_ >= rows_.size()) rows_.push_back({});
      } else if (text[i] == '\033') {
        std::size_t number = 0;
        for (i += 2; text[i] >= '0' && text[i] <= '9'; ++i)
          number = 10 * number + static_cast<std::size_t>(text[i] - '0');
        if (text[i] == 'A') row_ -= std::min(row_, number);
        if (text[i] == 'K') rows_[row_].resize(std::min(rows_[row_].size(), column_));
        if (text[i] == 'J') {
          rows_.resize(row_ + 1);
          rows_[row_].resize(std::min(rows_[row_].size(), column_));
        }
      } else if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
        REQUIRE(column_ < columns_);
        std::string& row = rows_[row_];
        if (row.size() <= column_) row.resize(column_ + 1, ' ');
        row[column_++] = static_cast<unsigned char>(text[i]) < 0x80 ? text[i] : '~';
      }
    }
  }

  void narrow(std::size_t columns) {
    std::vector<std::string> rows;
    for (const std::string& row : rows_)
      for (std::size_t at = 0; at == 0 || at < row.size(); at += columns) rows.push_back(row.substr(at, columns));
    columns_ = columns;
    rows_ = rows;
    row_ = rows_.size() - 1; // the display leaves the cursor at the end
  }

  std::size_t columns() const { return columns_; }
  const std::vector<std::string>& rows() const { return rows_; }

private:
  std::size_t columns_, row_ = 0, column_ = 0;
  std::vector<std::string> rows_{{}};
};

} // namespace

TEST_CASE("a window that gets narrower keeps no copy of the lines", "[command_line]") {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  console.live = true;
  double now = 100;
  SmallTerminal terminal(100);
  RunDisplay display(
      console, four_runs(), [&] { return now; },
      [&] {
        return TerminalSize{terminal.columns(), 24};
      });
  const auto pass_on = [&] {
    terminal.write(err.str());
    err.str("");
  };
  terminal.write("what stood there before\n");
  std::int64_t step = 0;
  for (const std::size_t columns : std::vector<std::size_t>{100, 60, 24, 24, 13}) {
    if (columns != terminal.columns()) terminal.narrow(columns);
    for (const std::size_t run : std::vector<std::size_t>{0, 1}) display.take(progress(run, ++step));
    now += 1;
    display.tick();
    pass_on();
    INFO(columns);
    // The expected lines: the earlier line (which may be wrapped), one line for the whole sweep, one line for each run,
    // and the cursor's position.
    const std::size_t before = (std::string("what stood there before").size() + columns - 1) / columns;
    CHECK(terminal.rows().size() == before + 4);
    CHECK(terminal.rows().front().starts_with("what stood"));
  }
  display.clear();
  pass_on();
  CHECK(terminal.rows().back().empty());
  CHECK(terminal.rows().size() == 3);
}

TEST_CASE("no more lines are drawn than the window has rows", "[command_line]") {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  console.live = true;
  double now = 100;
  RunDisplay display(
      console, four_runs(), [&] { return now; },
      [] {
        return TerminalSize{80, 3};
      });
  for (const std::size_t run : std::vector<std::size_t>{0, 1, 2, 3}) display.take(progress(run, 1));
  err.str("");
  now += 1;
  display.tick();
  CHECK(std::ranges::count(err.str(), '\n') == 2);
}

TEST_CASE("on a terminal lines are drawn again at most five times a second, and a failure at once", "[command_line]") {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  console.live = true;
  double now = 100;
  RunDisplay display(
      console, four_runs(), [&] { return now; },
      [] {
        return TerminalSize{100, 24};
      });
  display.take(progress(0, 1));
  const auto first = err.str().size();
  CHECK(first > 0);
  now += 0.1;
  display.take(progress(0, 2));
  CHECK(err.str().size() == first);
  now += 0.15;
  display.tick();
  CHECK(contains(err.str().substr(first), "step 2 of 100"));
  CHECK(contains(err.str().substr(first), "\033[2A"));
  RunEvent failure = event(Kind::failed, 1);
  failure.reason = "NaN loss at step 17";
  display.take(failure);
  CHECK(contains(err.str(), "failed b: NaN loss at step 17\n"));
}
