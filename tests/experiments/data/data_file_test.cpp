// Tests of data files that are read in pieces: the pieces give the whole content, and the stored facts about a file are
// true.
#include "experiments/data/data_file.hpp"

#include "autograd/rng.hpp"
#include "experiments/data/text_file.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/data/data_cache_support.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <filesystem>

using namespace heed;
using namespace heed::test;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// Words of characters of one to four bytes each. Some words are longer than a piece.
std::string text(std::size_t size) {
  const std::vector<std::string> parts = {"word", "é", "€uro", "😀", " ", "\n", "  ", "\t", "longer", "-"};
  RandomSource random({2, Stream::test, 0});
  std::string out;
  while (out.size() < size) out += parts[random.below(parts.size())];
  out.insert(size / 2, std::string(3'000'000, 'l'));
  return out;
}

bool is_space(char c) { return std::string_view(" \t\r\n\v\f").find(c) != std::string_view::npos; }

} // namespace

TEST_CASE("pieces make the whole, and end where they may", "[data][data_file]") {
  const std::string bytes = text(2'500'000);
  const TemporaryFile on_disk(bytes);
  const DataFile file("data", "path", on_disk.path());
  REQUIRE(file.size() == bytes.size());
  for (const Cut cut : {Cut::anywhere, Cut::after_character, Cut::after_space, Cut::nowhere})
    for (const auto& [begin, end] :
         {std::pair<std::uint64_t, std::uint64_t>{0, bytes.size()}, {1000, 2'500'000}, {5, 5}}) {
      std::string whole;
      std::size_t pieces = 0;
      file.each_piece(begin, end, cut, [&, from = begin, to = end](std::string_view piece, std::uint64_t at) {
        REQUIRE(at == from + whole.size());
        whole += piece;
        ++pieces;
        if (from + whole.size() == to) return;
        if (cut == Cut::after_space) REQUIRE(is_space(piece.back()));
        if (cut == Cut::after_character) REQUIRE((bytes[at + piece.size()] & 0xc0) != 0x80);
      });
      CHECK(whole == bytes.substr(begin, end - begin));
      CHECK(pieces == (begin == end ? 0U : cut == Cut::nowhere ? 1U : pieces));
      if (cut == Cut::anywhere && begin == 0) CHECK(pieces > 5);
    }
  CHECK(file.fingerprint() == fingerprint_of(bytes));
  CHECK(file.fingerprint(3) == fingerprint_of(std::string_view(bytes).substr(3)));
  for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{2'000'000}, std::uint64_t{bytes.size()}}) {
    const std::size_t space = bytes.find_first_of(" \t\r\n", from);
    CHECK(file.behind_space(from) == (space == bytes.npos ? bytes.size() : space + 1));
  }
  std::u32string characters;
  file.each_character(0, bytes.size(), [&](char32_t c) { characters += c; });
  CHECK(characters == from_utf8(bytes, "it"));
}

TEST_CASE("what is not UTF-8 in a large file is refused as it is in memory", "[data][data_file]") {
  for (const std::string& wrong : {std::string("\xff"), std::string("\xc3("), std::string("\xe2\x82")})
    for (const std::size_t at :
         {std::size_t{0}, std::size_t{1'048'575}, std::size_t{2'500'000}, std::size_t{4'000'000}}) {
      std::string bytes;
      while (bytes.size() < at) bytes += "some lines\n";
      bytes.resize(at);
      bytes += wrong;
      if (at < 4'000'000) bytes += std::string(2'000'000, '\n');
      const TemporaryFile on_disk(bytes);
      const DataFile file("data", "path", on_disk.path());
      const std::string expected = refusal([&] { require_utf8(bytes, file.name()); });
      REQUIRE_THAT(expected, Contains("at byte offset " + std::to_string(at)));
      CHECK(refusal([&] { file.require_utf8(); }) == expected);
    }
}

TEST_CASE("a file that gets shorter while it is read is refused", "[data][data_file]") {
  const TemporaryFile on_disk(std::string(3'000'000, 'a'));
  const DataFile file("data", "path", on_disk.path());
  fs::resize_file(on_disk.path(), 1'500'000);
  CHECK_THAT(refusal([&] { (void)file.fingerprint(); }), Contains(on_disk.path()) && Contains("it ends before"));
}

TEST_CASE("a fingerprint that is known is that of the file as it is", "[data][data_file]") {
  const Scratch scratch;
  const DataCachePlace place{scratch.path};
  const TemporaryFile on_disk(text(2'000'000));
  const auto now = std::chrono::nanoseconds(0);
  const auto known = [&] { return known_fingerprint(DataFile("data", "path", on_disk.path()), 0, place, now); };
  const auto right = [&] { return DataFile("data", "path", on_disk.path()).fingerprint(); };

  // A file that was modified a moment ago is not trusted as unchanged, so it is read each time.
  CHECK(known_fingerprint(DataFile("data", "path", on_disk.path()), 0, place) == right());
  CHECK(files_in(scratch.path, ".seen").empty());

  CHECK(known() == right());
  REQUIRE(files_in(scratch.path, ".seen").size() == 1);
  const std::string expected = right();
  const std::int64_t before = bytes_read();
  CHECK(known() == expected);
  CHECK(bytes_read() - before < 100'000); // the file has 5 MB

  const auto time = fs::last_write_time(on_disk.path());
  {
    std::fstream change(on_disk.path(), std::ios::in | std::ios::out | std::ios::binary);
    change.put('#');
  }
  fs::last_write_time(on_disk.path(), time); // with its old time and size
  CHECK(right() != expected);
  CHECK(known() == right());

  const fs::path record = files_in(scratch.path, ".seen").front();
  const std::string whole = *read_file(record);
  for (std::size_t i = 0; i < whole.size(); i += 3) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(record, std::ios::binary) << damaged;
    REQUIRE(known() == right());
    std::ofstream(record, std::ios::binary) << whole.substr(0, i);
    REQUIRE(known() == right());
  }
}
