// Tests of the stream that writes to a terminal: it passes Heed's own escape sequences on, and prints those inside
// texts in visible form.
#include "experiments/actions/progress_board.hpp"
#include "experiments/command_line/console.hpp"
#include "experiments/report/style.hpp"
#include "experiments/report/text_table.hpp"
#include "tests/catch.hpp"

#include <sstream>

using namespace heed;

namespace {

const std::string mark_of_test = "\033[12;34m";

std::string passed(const std::vector<std::string>& pieces, const std::string& mark = mark_of_test) {
  std::ostringstream to;
  {
    TerminalStream stream(to, mark);
    for (const std::string& piece : pieces) stream << piece << std::flush;
  }
  return to.str();
}

} // namespace

TEST_CASE("commands in texts are shown, and Heed's own pass", "[terminal]") {
  const Style style{true, mark_of_test};
  CHECK(passed({"a\tb\n", style.red("failed"), " grün\n"}) == "a\tb\n\033[31mfailed\033[0m grün\n");
  CHECK(passed({"\033[31mred\r\a\x7f"}) == "\\x1b[31mred\\x0d\\x07\\x7f");
  CHECK(passed({style.bold("\033[2J")}) == "\033[1m\\x1b[2J\033[0m");
  CHECK(passed({style.command("\r") + style.command("\033[3A") + style.command("\033[J")}) == "\r\033[3A\033[J");
  CHECK(passed({style.command("no command")}) == "no command");
  CHECK(passed({Style{true, ""}.red("x")}, "") == "\\x1b[31mx\\x1b[0m");
  CHECK(passed({"\u009b2J \u202e \u2066 \u200f"}) == "\\x9b2J \\u202e \\u2066 \u200f");
  CHECK(passed({std::string("a\0b", 3)}) == "a\\x00b");
}

TEST_CASE("characters that come in pieces are whole", "[terminal]") {
  CHECK(passed({"\xe2", "\x82", "\xac", "\xf0\x9f", "\x98\x80"}) == "€😀");
  CHECK(passed({"\xe2\x82"}) == "\\xe2\\x82");
  CHECK(passed({"\xe2\x82", "x"}) == "\\xe2\\x82x");
  CHECK(passed({"\xc2", "\x9b"}) == "\\x9b");
  CHECK(passed({"\x9b", "2J\xff\xc0"}) == "\\x9b2J\\xff\\xc0");
}

TEST_CASE("a stream that can't be written fails, and so does the stream to a terminal", "[terminal]") {
  std::ostringstream to;
  to.setstate(std::ios::badbit);
  TerminalStream stream(to, "");
  stream << "x";
  CHECK_FALSE(stream);
}

TEST_CASE("marks are drawn, and take no columns", "[terminal]") {
  CHECK(terminal_mark() != terminal_mark());
  CHECK(display_width(Style{true, terminal_mark()}.red("four")) == 4);
}

TEST_CASE("labels of running runs keep to their line", "[terminal]") {
  const ProgressBoard board({{"a\nb\033[2J\r", 100, 1.0}}, 0);
  CHECK(board.label(0) == "a b\\x1b[2J\\x0d");
}
