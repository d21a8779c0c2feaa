// Tests that messages are broken between words.
#include "experiments/command_line/console.hpp"
#include "tests/catch.hpp"

#include <sstream>

using namespace heed;

TEST_CASE("messages are broken between words, and commands stay whole", "[command_line]") {
  const std::string message = "one two three\n      four five six\n      ./heed run a long command";
  CHECK(fitted(message, 0, "./heed") == message);
  CHECK(fitted(message, 19, "./heed") == message);
  CHECK(fitted(message, 15, "./heed") == "one two three\n      four five\n      six\n      ./heed run a long command");
  CHECK(fitted(message, 13, "./heed", 6) ==
        "one two\n      three\n      four\n      five\n      six\n      ./heed run a long command");
  CHECK(fitted("one  two", 8, "heed") == "one  two");
  CHECK(fitted("one  two", 7, "heed") == "one\n      two");
  CHECK(fitted("awordthatistoowide a", 5, "heed") == "awordthatistoowide\n      a");
  CHECK(fitted("größe größe", 11, "heed") == "größe größe");
  CHECK(fitted("", 5, "heed").empty());
  CHECK(fitted("a\n", 5, "heed") == "a\n");
}

TEST_CASE("without a terminal, messages are not broken", "[command_line]") {
  std::ostringstream out;
  Console console{out, out, {}, {}};
  console.width = 5;
  CHECK(fitted("one two three", console) == "one two three");
  console.live = true;
  CHECK(fitted("one two", console) == "one\n      two");
}
