// Tests of reading text files: UTF-8 is decoded to code points, and every invalid file gives a clear error.
#include "experiments/data/data_file.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/text.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <array>
#include <boost/locale/utf.hpp>
#include <iterator>
#include <xxhash.h>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

TEST_CASE("UTF-8 is read and written by characters", "[text]") {
  CHECK(to_utf8(U"naïve €😀 a\r\n") == "naïve €😀 a\r\n");
  CHECK(from_utf8("naïve €😀 a\r\n", "t") == U"naïve €😀 a\r\n");
  CHECK(from_utf8(std::string_view("a\0b", 3), "t") == std::u32string(U"a\0b", 3));
}

TEST_CASE("every character and no other sequence of bytes is UTF-8", "[text]") {
  // Compares with Boost's independent decoder: all code points, and all sequences of three bytes with a fourth byte
  // that ends or continues them.
  namespace utf = boost::locale::utf;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    std::string bytes;
    utf::utf_traits<char>::encode(c, std::back_inserter(bytes));
    char32_t read = 0;
    if (decode_utf8(bytes.data(), bytes.data() + bytes.size(), read) != bytes.size() || read != c) {
      CAPTURE(static_cast<std::uint32_t>(c));
      FAIL("read otherwise");
    }
  }
  for (std::uint32_t first = 0; first < (1U << 24); first += first < (0xc0U << 16) ? 977 : 7)
    for (const char last : {'a', '\x80', '\xbf'}) {
      const std::array<char, 4> bytes = {static_cast<char>(first >> 16), static_cast<char>(first >> 8),
                                         static_cast<char>(first), last};
      for (std::size_t size = 1; size <= bytes.size(); ++size) {
        const char* p = bytes.data();
        const utf::code_point expected = utf::utf_traits<char>::decode(p, bytes.data() + size);
        const bool right = expected != utf::illegal && expected != utf::incomplete;
        char32_t read = 0;
        const std::size_t found = decode_utf8(bytes.data(), bytes.data() + size, read);
        if (found != (right ? static_cast<std::size_t>(p - bytes.data()) : 0) || (right && read != expected)) {
          CAPTURE(first, size);
          FAIL("read otherwise");
        }
      }
    }
}

TEST_CASE("the fingerprint is the XXH3 hash of the bytes, of 128 bits", "[text]") {
  // XXH3_128bits of empty input, as xxHash publishes it in canonical form, and our hexadecimal form for other inputs.
  const XXH128_hash_t none = XXH3_128bits("", 0);
  REQUIRE(none.high64 == 0x99aa06d3014798d8ULL);
  REQUIRE(none.low64 == 0x6001c324468d497fULL);
  CHECK(fingerprint_of("abc") == "xxh128:06b05ab6733a618578af5f94892f3950");
}

TEST_CASE("what is not UTF-8 is refused with its place", "[text]") {
  const auto message = [](std::string_view bytes) { return refusal([&] { require_utf8(bytes, "notes.txt"); }); };
  CHECK(message("caf\xe9\n") ==
        "notes.txt is not UTF-8: byte 0xE9 at byte offset 3, line 1, does not begin a character; a text must be UTF-8 "
        "throughout (to convert one: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE)");
  CHECK_THAT(message("é\n\nab\xff"), Contains("byte 0xFF at byte offset 6, line 3, does not begin a character"));
  CHECK_THAT(message("ab\xe2\x82"), Contains("byte 0xE2 at byte offset 2, line 1, begins a character that the end cuts "
                                             "off;"));
  for (const char* bad : {"\x80", "\xc0\xaf", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf8\x88\x80\x80\x80", "\xe2\x28\xa1"}) {
    // Invalid UTF-8: a lone continuation byte, overlong forms, a surrogate, a value above U+10FFFF, five bytes, a
    // broken sequence.
    INFO(bad);
    CHECK_THAT(message(std::string("x") + bad + "yyyy"), Contains("at byte offset 1, line 1"));
  }
}

TEST_CASE("files in UTF-16 and compressed ones are named, with what makes a text of them", "[text]") {
  using namespace std::string_literals;
  const auto message = [](const std::string& bytes) { return refusal([&] { require_utf8(bytes, "it"); }); };
  const auto on_disk = [](const std::string& bytes) {
    const TemporaryFile file(bytes);
    return refusal([&] { DataFile("data", "path", file.path()).require_utf8(); });
  };
  for (const auto& [bytes, is, command] : std::vector<std::array<std::string, 3>>{
           {"\xff\xfet\0h\0"s, "encoded in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"},
           {"\xfe\xff\0t\0h"s, "encoded in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"},
           {"\xff\xfe\0\0t\0\0\0"s, "encoded in UTF-32", "iconv -f UTF-32"},
           {"\x1f\x8b\x08\x08"s + "abcdefgh", "compressed by gzip", "gzip -dc FILE > NEW_FILE"},
           {"\xfd"s + "7zXZ\0abc", "compressed by xz", "xz -dc"},
           {"PK\x03\x04\x14\xff"s, "a zip archive", "unzip -p"}}) {
    CHECK_THAT(message(bytes), Contains("it looks like a file that is " + is + ": " + command));
    CHECK_THAT(on_disk(bytes), Contains("it looks like a file that is " + is + ": " + command));
  }
  CHECK_THAT(message("caf\xe9"), Contains("WINDOWS-1252"));
}

TEST_CASE("a path that is no text file is refused with what it is", "[text]") {
  const auto message = [](const std::string& path) {
    return refusal([&] { DataFile("data", "path", path).require_utf8(); });
  };
  const auto whole = [](const std::string& path) { return refusal([&] { read_data_file("data", "path", path); }); };
  CHECK(message("") == "[data] path is empty, and the task reads a file: name one, data.path=FILE");
  CHECK(message("/nowhere/at all.txt") == "[data] path = \"/nowhere/at all.txt\" does not exist");
  CHECK(message("no such file.txt") == "[data] path = \"no such file.txt\" does not exist (looked for it from " +
                                           std::filesystem::current_path().string() + ")");
  const TemporaryFile near("x");
  CHECK(message(near.path() + "x") == "[data] path = \"" + near.path() + "x\" does not exist; did you mean '" +
                                          std::filesystem::path(near.path()).filename().string() + "'?");
  const std::string directory = std::filesystem::temp_directory_path().string();
  CHECK(message(directory) == "[data] path = \"" + directory + "\" is a directory; name a text file");
  CHECK(message("/dev/null") ==
        "[data] path = \"/dev/null\" is not a regular file, which can be read again; copy it to one");
  for (const std::string& path : {std::string(), std::string("no such file.txt"), directory, std::string("/dev/null")})
    CHECK(whole(path) == message(path));
  const TemporaryFile file("");
  CHECK(whole(file.path()) == message(file.path()));
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
