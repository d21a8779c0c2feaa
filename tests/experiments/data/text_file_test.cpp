// The contract of reading text: UTF-8 in, code points by the alphabet of the text, and every bad file refused clearly.
#include "experiments/data/text_file.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <xxhash.h>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

TEST_CASE("a text is its characters as numbers of its own alphabet", "[text]") {
  const Text text = text_of("naïve €😀 a\r\n", "t");
  CHECK(std::u32string(text.alphabet.begin(), text.alphabet.end()) == U"\n\r aenvï€😀");
  CHECK(text.tokens == std::vector<std::uint16_t>{5, 3, 7, 6, 4, 2, 8, 9, 2, 3, 1, 0});
  CHECK(to_utf8(U"naïve €😀 a\r\n") == "naïve €😀 a\r\n");
  CHECK(from_utf8("naïve €😀 a\r\n", "t") == U"naïve €😀 a\r\n");
  CHECK(from_utf8(std::string_view("a\0b", 3), "t") == std::u32string(U"a\0b", 3));
}

TEST_CASE("the fingerprint is the XXH3 hash of the bytes, of 128 bits", "[text]") {
  // XXH3_128bits of no bytes, as xxHash publishes it in its canonical form, and the form for others.
  const XXH128_hash_t none = XXH3_128bits("", 0);
  REQUIRE(none.high64 == 0x99aa06d3014798d8ULL);
  REQUIRE(none.low64 == 0x6001c324468d497fULL);
  const std::string fingerprint = text_of("abc", "t").fingerprint;
  CHECK(fingerprint == "xxh128:06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("what is not UTF-8 is refused with its place", "[text]") {
  const auto message = [](std::string_view bytes) { return refusal([&] { text_of(bytes, "notes.txt"); }); };
  CHECK(message("caf\xe9\n") ==
        "notes.txt is not UTF-8: byte 0xE9 at byte offset 3, line 1, does not begin a character; a text must be UTF-8 "
        "throughout (to convert one: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE)");
  CHECK_THAT(message("é\n\nab\xff"), Contains("byte 0xFF at byte offset 6, line 3, does not begin a character"));
  CHECK_THAT(message("ab\xe2\x82"), Contains("byte 0xE2 at byte offset 2, line 1, begins a character that the end cuts "
                                             "off;"));
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf8\x88\x80\x80\x80", "\xe2\x28\xa1"}) {
    // A lone continuation, overlong forms, a surrogate, above U+10FFFF, five bytes, a broken sequence.
    INFO(bad);
    CHECK_THAT(message(std::string("x") + bad + "yyyy"), Contains("at byte offset 1, line 1"));
  }
}

TEST_CASE("an empty text is refused", "[text]") {
  CHECK(refusal([] { text_of("", "notes.txt"); }) == "notes.txt is empty; a text needs characters to learn from");
}

TEST_CASE("more different characters than two bytes count are refused", "[text]") {
  std::u32string all;
  for (char32_t c = 0x10000; c < 0x10000 + 65536; ++c) all += c;
  CHECK(text_of(to_utf8(all), "t").tokens.back() == 65535);
  all += U'a';
  CHECK(refusal([&] { text_of(to_utf8(all), "t"); }) ==
        "t has 65537 different characters; at most 65536 can be told apart");
}

TEST_CASE("a file is read whole", "[text]") {
  const TemporaryFile file("ab\nä");
  CHECK(read_text_file(file.path()).fingerprint == text_of("ab\nä", "t").fingerprint);
  CHECK(read_text_file(file.path()).tokens == std::vector<std::uint16_t>{1, 2, 0, 3});
}

TEST_CASE("a path that is no text file is refused with what it is", "[text]") {
  const auto message = [](const std::string& path) { return refusal([&] { read_text_file(path); }); };
  CHECK(message("") == "[data] path is empty, and the task reads a file: name one, data.path=FILE");
  CHECK(message("/nowhere/at all.txt") == "[data] path = \"/nowhere/at all.txt\" does not exist");
  CHECK(message("no such file.txt") == "[data] path = \"no such file.txt\" does not exist (looked for it from " +
                                           std::filesystem::current_path().string() + ")");
  const std::string directory = std::filesystem::temp_directory_path().string();
  CHECK(message(directory) == "[data] path = \"" + directory + "\" is a directory; name a text file");
  CHECK(message("/dev/null") ==
        "[data] path = \"/dev/null\" is not a regular file, which can be read again; copy it to one");
  const TemporaryFile file("");
  CHECK(message(file.path()) ==
        "[data] path = \"" + file.path() + "\" is empty; the task needs something to read in it");
  CHECK_THAT(message(file.path() + "/within"), Contains("[data] path = \"" + file.path() + "/within\" "));
  const TemporaryFile latin("caf\xe9");
  CHECK_THAT(message(latin.path()), Contains("[data] path = \"" + latin.path() +
                                             "\" is not UTF-8: byte 0xE9 at byte "
                                             "offset 3, line 1"));
}

TEST_CASE("characters are shown by themselves where they can be seen", "[text]") {
  CHECK(show_character(U'a') == "\"a\" (U+0061)");
  CHECK(show_character(U'😀') == "\"😀\" (U+1F600)");
  for (const auto& [character, shown] : {std::pair{U'\n', "U+000A"}, {U' ', "U+0020"}, {U'\u007f', "U+007F"}})
    CHECK(show_character(character) == shown);
}
