// Tests of splitting other programs' output into lines and words.
#include "experiments/system/text.hpp"
#include "tests/catch.hpp"

using namespace heed;
using Parts = std::vector<std::string>;

TEST_CASE("white space at the ends goes, within it stays", "[system][text]") {
  CHECK(trimmed("  a b\t\r\n") == "a b");
  CHECK(trimmed("a") == "a");
  CHECK(trimmed(" \n ").empty());
  CHECK(trimmed("").empty());
}

TEST_CASE("parts are one more than separators", "[system][text]") {
  CHECK(parts_of("a|b||c|", '|') == Parts{"a", "b", "", "c", ""});
  CHECK(parts_of("", '|') == Parts{""});
  CHECK(lines_of("a\n\n b \nc") == Parts{"a", " b ", "c"});
  CHECK(lines_of("\n").empty());
}
