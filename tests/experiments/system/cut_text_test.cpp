// Tests of cutting texts and lists from files before they are printed.
#include "experiments/system/text.hpp"
#include "tests/catch.hpp"

using namespace heed;

TEST_CASE("a short text stays, a long one is cut and its size given", "[system][text]") {
  CHECK(cut("abc", 3) == "abc");
  CHECK(cut("abcdefghijklmnopq", 16) == "ab... (17 bytes)");
  const std::string type = cut(std::string(30'000'000, 'F'));
  CHECK(type == std::string(180, 'F') + "... (30000000 bytes)");
  CHECK(cut(type) == type);
  CHECK(cut("", 0).empty());
  CHECK(cut("a", 0) == "... (1 bytes)");
}

TEST_CASE("no character is cut in two, and bytes that are no characters are cut anywhere", "[system][text]") {
  CHECK(beginning_of("a\xc3\xa9z", 2) == "a");
  CHECK(beginning_of("a\xc3\xa9z", 3) == "a\xc3\xa9");
  CHECK(beginning_of("\xf0\x9f\x98\x80z", 3).empty());
  CHECK(beginning_of(std::string(10, '\x80'), 6) == std::string(6, '\x80'));
}

TEST_CASE("a long list is cut, and the number of the others given", "[system][text]") {
  CHECK(first_words({}).empty());
  CHECK(first_words({"a", "b"}, 2) == "a, b");
  CHECK(first_words({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
  CHECK(first_words(std::vector<std::string>(30'000, std::string(300, 'n')), 1) ==
        std::string(185, 'n') + "... (300 bytes) and 29999 more");
  CHECK(first_lines({"a", "b"}, "  ", 2) == "  a\n  b\n");
  CHECK(first_lines({"a", "b", "c"}, "  ", 1) == "  a\n  and 2 more\n");
}
