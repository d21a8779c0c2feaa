// Tests of a text's tokens: they equal the tokens of the whole files by definition, whether they are computed in
// memory, stored, loaded again or damaged.
#include "experiments/tasks/token_text.hpp"

#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/data/data_cache_support.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <thread>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

/// Lines of words from a vocabulary of some hundred; the last words are rare.
std::string text(std::uint64_t seed, std::size_t size, std::size_t words) {
  const std::vector<std::string> letters = {"a", "b", "c", "d", "é", "ж", "€", "z"};
  RandomSource random({seed, Stream::test, 0});
  std::string out;
  while (out.size() < size) {
    std::size_t word = random.below(1 + random.below(words));
    for (++word; word > 0; word /= letters.size()) out += letters[word % letters.size()];
    out += random.below(9) == 0 ? "\r\n" : random.below(20) == 0 ? "  " : " ";
  }
  return out;
}

using Tokens = std::vector<std::int32_t>;

/// All tokens of a text.
Tokens all_of(const TokenText& text) {
  Tokens tokens(static_cast<std::size_t>(text.parts()[2].end));
  text.copy(0, std::ssize(tokens), tokens.data());
  return tokens;
}

/// The tokens of a text by definition, from whole strings in memory.
struct Expected {
  Tokens tokens;
  std::array<std::int64_t, 3> sizes;
  std::string fingerprint;
};

/// @param others  the files of validation and test; empty: both are parts of `main`
Expected expected(const DataOptions& data, const std::string& main, const std::array<std::string, 2>& others = {}) {
  Expected out;
  const auto size_of = [&](std::size_t n, double share) {
    return static_cast<std::size_t>(static_cast<double>(n) * share);
  };
  if (data.tokens == "characters" && others[0].empty() && others[1].empty()) {
    const std::u32string characters = from_utf8(main, "it");
    const std::set<char32_t> alphabet(characters.begin(), characters.end());
    std::map<char32_t, std::int32_t> token_of;
    for (const char32_t c : alphabet) token_of.emplace(c, static_cast<std::int32_t>(token_of.size()));
    for (const char32_t c : characters) out.tokens.push_back(token_of.at(c));
    const std::size_t n = characters.size(), train = size_of(n, data.train), test = size_of(n, data.test);
    out.sizes = {static_cast<std::int64_t>(train), static_cast<std::int64_t>(n - train - test),
                 static_cast<std::int64_t>(test)};
    out.fingerprint = fingerprint_of(main);
    return out;
  }
  const std::size_t test_begin = main.size() - (others[1].empty() ? size_of(main.size(), data.test) : 0);
  const std::size_t train_end = others[0].empty() ? size_of(main.size(), data.train) : test_begin;
  const auto behind = [&](std::size_t from) {
    const std::size_t space = main.find_first_of(" \t\r\n", from);
    return space == main.npos ? main.size() : space + 1;
  };
  const std::size_t train = behind(train_end), validation = std::max(train, behind(test_begin));
  std::array<std::string, 3> parts = {main.substr(0, train), main.substr(train, validation - train),
                                      main.substr(validation)};
  out.fingerprint = fingerprint_of(main);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i].empty()) continue;
    parts[i + 1] = others[i];
    out.fingerprint += (i == 0 ? " validation " : " test ") + fingerprint_of(others[i]);
  }
  const std::vector<std::string_view> training = {parts[0]};
  const auto vocabulary = make_vocabulary(data, training, true);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t before = std::ssize(out.tokens);
    vocabulary->encode(parts[i], out.tokens);
    out.sizes[i] = std::ssize(out.tokens) - before;
  }
  return out;
}

void check(const TokenText& text, const Expected& expected) {
  CHECK((all_of(text) == expected.tokens));
  CHECK(text.fingerprint() == expected.fingerprint);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(text.parts()[i].begin == begin);
    CHECK(text.parts()[i].size() == expected.sizes[i]);
    begin = text.parts()[i].end;
    if (i == 2) continue;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(text.vocabulary().size()));
    for (std::int64_t t = text.parts()[i].begin; t < text.parts()[i].end; ++t)
      ++counts[static_cast<std::size_t>(expected.tokens[static_cast<std::size_t>(t)])];
    CHECK(std::ranges::equal(text.counts(i), counts));
  }
}

DataOptions options(const std::string& path, const std::string& tokens) {
  DataOptions data;
  data.path = path;
  data.train = 0.8;
  data.test = 0.07;
  data.tokens = tokens;
  return data;
}

} // namespace

TEST_CASE("tokens are those of the whole text, however they are come by", "[tasks][text][kept]") {
  const Scratch scratch;
  const auto in_scratch = [&](std::uint64_t) { return DataCachePlace{scratch.path}; };
  const auto nowhere = [](std::uint64_t) { return DataCachePlace{}; };
  const std::string main = text(1, 1'200'000, 600), validation = text(2, 50'000, 700), test = text(3, 60'000, 500);
  const TemporaryFile main_file(main), validation_file(validation), test_file(test);
  std::vector<std::pair<DataOptions, std::array<std::string, 2>>> cases;
  for (const char* tokens : {"characters", "words", "bytes"})
    for (const bool apart : {false, true}) {
      DataOptions data = options(main_file.path(), tokens);
      if (apart) data.validation_path = validation_file.path();
      cases.push_back({data, {apart ? validation : "", ""}});
      data.test_path = test_file.path();
      cases.push_back({data, {apart ? validation : "", test}});
    }
  DataOptions few = options(main_file.path(), "words"); // one byte each
  few.max_vocabulary = 100;
  cases.push_back({few, {}});
  few.min_count = 4000;
  cases.push_back({few, {}});
  few.train = 0.5;
  cases.push_back({few, {}});
  for (const auto& [data, others] : cases) {
    INFO(data.tokens << " " << data.validation_path << " " << data.test_path);
    const Expected right = expected(data, main, others);
    for (int round = 0; round < 2; ++round) check(TokenText(data, in_scratch), right);
    check(TokenText(data, nowhere), right);
  }
  CHECK(files_in(scratch.path, ".kept").size() == cases.size());
  for (const auto& file : files_in(scratch.path, ".kept")) {
    INFO("one byte or two each"); // a text of 1.2 MB with fewer characters and still fewer words
    CHECK(std::filesystem::file_size(file) < 1'400'000);
  }
}

TEST_CASE("a text that was kept is read again only where it changed", "[tasks][text][kept]") {
  const Scratch scratch;
  const auto place = [&](std::uint64_t) { return DataCachePlace{scratch.path}; };
  const std::string before = text(4, 600'000, 300), after = text(5, 600'000, 300);
  const TemporaryFile file(before);
  const DataOptions data = options(file.path(), "words");
  check(TokenText(data, place), expected(data, before));
  std::this_thread::sleep_for(std::chrono::milliseconds(3200)); // the file must be unmodified for this long
  check(TokenText(data, place), expected(data, before));
  const std::int64_t read = bytes_read();
  const TokenText again(data, place);
  CHECK(bytes_read() - read < 100'000);
  check(again, expected(data, before));
  write_file(file.path(), after, Durability::process);
  check(TokenText(data, place), expected(data, after));
  check(again, expected(data, before)); // a process that has the old file can still read it
}

TEST_CASE("tokens that were damaged are made again before anyone has them", "[tasks][text][kept]") {
  const Scratch scratch;
  const auto place = [&](std::uint64_t) { return DataCachePlace{scratch.path}; };
  const std::string bytes = text(6, 150'000, 300);
  const TemporaryFile file(bytes);
  const DataOptions data = options(file.path(), "characters");
  { const TokenText made(data, place); }
  const auto kept = files_in(scratch.path, ".kept").at(0);
  std::string damaged = *read_file(kept);
  damaged[50'000] = static_cast<char>(damaged[50'000] ^ 1); // a byte among the tokens
  write_file(kept, damaged, Durability::process);
  check(TokenText(data, place), expected(data, bytes));
  CHECK(!std::filesystem::exists(kept));
  check(TokenText(data, place), expected(data, bytes));
  CHECK(std::filesystem::exists(kept));

  // If the text has changed in the meantime, the tokens cannot be computed again.
  write_file(kept, damaged, Durability::process);
  const TokenText broken(data, place);
  std::string other = bytes;
  std::ranges::replace(other, 'a', 'd');
  std::ofstream(file.path(), std::ios::binary) << other;
  CHECK_THAT(refusal([&] { all_of(broken); }), Contains(file.path()) && Contains("was changed while Heed read it"));
}

TEST_CASE("texts that can't be used are refused, kept or not", "[tasks][text][kept]") {
  const Scratch scratch;
  for (const bool keep : {false, true}) {
    const auto place = [&](std::uint64_t) { return keep ? DataCachePlace{scratch.path} : DataCachePlace{}; };
    const TemporaryFile latin("good\nbad \xe9\n"), mark("\xEF\xBB\xBF");
    for (const char* tokens : {"characters", "words"}) {
      const std::string why = refusal([&] { TokenText(options(latin.path(), tokens), place); });
      CHECK_THAT(why, Contains(latin.path()) && Contains("byte 0xE9 at byte offset 9, line 2"));
    }
    CHECK(refusal([&] { TokenText(options(mark.path(), "characters"), place); }) ==
          "[data] path = \"" + mark.path() + "\" is empty; a text needs characters to learn from");
    std::u32string all;
    for (char32_t c = 0x10000; c < 0x10000 + 65536; ++c) all += c;
    const TemporaryFile most(to_utf8(all));
    CHECK(all_of(TokenText(options(most.path(), "characters"), place)).back() == 65535);
    const TemporaryFile more(to_utf8(all + U'a'));
    CHECK_THAT(refusal([&] { TokenText(options(more.path(), "characters"), place); }),
               Contains("has 65537 different characters; at most 65536 are supported"));
    std::string words;
    for (int i = 0; i < 100000; ++i) words += std::to_string(i) + " ";
    const TemporaryFile many(words);
    CHECK_THAT(refusal([&] { TokenText(options(many.path(), "words"), place); }),
               Contains("at most 65536 are supported: set data.max_vocabulary"));
  }
}

TEST_CASE("what is kept of a text is version 2", "[tasks][text][kept]") {
  // Other bytes for the same text mean other tokens, or another way to write them. Then increase the version in
  // token_text.cpp and change these values, so that no older file is used for the new format.
  const Scratch scratch;
  const auto place = [&](std::uint64_t) { return DataCachePlace{scratch.path}; };
  const TemporaryFile file("the cat saw the dog\nand the dog saw é\n");
  std::string found;
  for (const char* tokens : {"characters", "words", "bytes"}) {
    { const TokenText text(options(file.path(), tokens), place); }
    const auto kept = files_in(scratch.path, ".kept");
    found += content_hash(*read_file(kept.at(0))).substr(0, 8) + " " + kept.at(0).filename().string().substr(0, 8) +
             "\n";
    for (const auto& path : kept) std::filesystem::remove(path);
  }
  CHECK(found == "035e537f c5cb418a\n49eb5751 cd5e7884\n5ecc0616 2078175c\n");
}
