// Tests of the task `text`: the characters of each split, and that evaluation predicts each of them exactly once.
#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

/// A text of `size` random characters of one to four bytes each.
std::u32string characters(std::size_t size) {
  const std::u32string alphabet = U"abcdefgh \nxyzäöü€😀";
  std::u32string text;
  RandomSource random({1, Stream::test, 0});
  while (text.size() < size) text += alphabet[random.below(alphabet.size())];
  return text;
}

std::string utf8(std::u32string_view text) { // by the definition of UTF-8, RFC 3629
  std::string bytes;
  for (const char32_t c : text) {
    if (c < 0x80) {
      bytes += static_cast<char>(c);
      continue;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    bytes += static_cast<char>((0xf0 << (3 - more) & 0xff) | c >> (6 * more));
    for (int i = more - 1; i >= 0; --i) bytes += static_cast<char>(0x80 | (c >> (6 * i) & 0x3f));
  }
  return bytes;
}

Config text_config(const std::string& path, std::int64_t block, double train = 0.9, double test = 0.0) {
  Config config = task_config("text", {{"block", block}});
  config.data = {path, train, test};
  return config;
}

std::string joined(const Task& task, const std::vector<Sequence>& sequences,
                   std::vector<std::int32_t> Sequence::*member) {
  std::string text;
  for (const Sequence& sequence : sequences) text += task.decode(sequence.*member);
  return text;
}

} // namespace

TEST_CASE("evaluation predicts every character of a split but its first, once, in order", "[tasks][text]") {
  for (const std::size_t size : {40U, 57U, 100U, 101U, 102U, 103U})
    for (const std::int64_t block : {1, 2, 3, 5, 9}) {
      INFO(size << " characters, block " << block);
      const std::u32string text = characters(size);
      const TemporaryFile file(utf8(text));
      const auto task = make_task(text_config(file.path(), block, 0.5, 0.25));
      const std::size_t train = size / 2, test = size - size / 4;
      const std::map<Split, std::u32string> parts = {{Split::validation, text.substr(train, test - train)},
                                                     {Split::test, text.substr(test)}};
      for (const auto& [split, part] : parts) {
        const auto sequences = evaluation_sequences(*task, lm, split);
        CHECK(joined(*task, sequences, &Sequence::targets) == utf8(part.substr(1)));
        CHECK(joined(*task, sequences, &Sequence::tokens) == utf8(part.substr(0, part.size() - 1)));
        for (std::size_t i = 0; i + 1 < sequences.size(); ++i) CHECK(std::ssize(sequences[i].tokens) == block);
        CHECK((!sequences.back().tokens.empty() && std::ssize(sequences.back().tokens) <= block));
      }
      // For the training split: the first windows, at most as many as the validation split has.
      const auto sequences = evaluation_sequences(*task, lm, Split::train);
      CHECK(sequences.size() <= evaluation_sequences(*task, lm, Split::validation).size());
      CHECK(utf8(text.substr(1, train - 1)).starts_with(joined(*task, sequences, &Sequence::targets)));
    }
}

TEST_CASE("the last window of a split is padded", "[tasks][text]") {
  const TemporaryFile file("abcdefghijabcdefghijabcdefghij");
  const auto task = make_task(text_config(file.path(), 4, 0.5));
  REQUIRE(task->evaluation_sequences(lm, Split::validation) == 4); // 14 predictions: 4 + 4 + 4 + 2
  Batch batch;
  batch.reset(1, 4, lm);
  task->evaluation_sequence(lm, Split::validation, 3, batch, 0);
  CHECK(batch.lengths[0] == 2);
  CHECK(batch.tokens == std::vector<std::int32_t>{7, 8, 0, 0});
  CHECK(batch.targets == std::vector<std::int32_t>{8, 9, ignored, ignored});
}

TEST_CASE("outlines have the lengths of sequences, and targets where these have some", "[tasks][text]") {
  const TemporaryFile file("abcdefghijabcdefghijabcdefghij");
  const auto task = make_task(text_config(file.path(), 4, 0.5));
  Batch sequence, outline;
  const auto compare = [&] {
    CHECK(outline.lengths == sequence.lengths);
    for (Batch* batch : {&sequence, &outline})
      for (std::int32_t& target : batch->targets) target = target == ignored ? ignored : 0;
    CHECK(outline.targets == sequence.targets);
    CHECK(std::ranges::all_of(outline.tokens, [](std::int32_t t) { return t >= 0 && t < 10; }));
  };
  const auto reset = [&] {
    for (Batch* batch : {&sequence, &outline}) batch->reset(2, 6, lm);
  };
  for (const Split split : {Split::train, Split::validation})
    for (std::int64_t i = 0; i < task->evaluation_sequences(lm, split); ++i) {
      reset();
      task->evaluation_sequence(lm, split, i, sequence, 1);
      task->evaluation_sequence_lengths(lm, split, i, outline, 1);
      compare();
    }
  reset();
  task->training_sequence(lm, 4, 3, 1, sequence, 1);
  task->training_sequence_lengths(lm, 4, 3, 1, outline, 1);
  compare();
  CHECK_THAT(failure([&] { task->training_sequence_lengths(lm, 4, 3, 1, outline, 2); }),
             Contains("does not fit as sequence 2"));
}

TEST_CASE("training sees windows of its own split only, every one of them", "[tasks][text]") {
  const std::u32string text = characters(60);
  const TemporaryFile file(utf8(text));
  const auto task = make_task(text_config(file.path(), 7, 0.5));
  std::set<std::string> expected, seen;
  for (std::size_t start = 0; start + 7 < 30; ++start) expected.insert(utf8(text.substr(start, 8)));
  REQUIRE(expected.size() == 23);
  for (std::int64_t i = 0; i < 2000; ++i) {
    const Sequence sequence = training_sequence(*task, lm, 4, i / 12, i % 12);
    CHECK(std::equal(sequence.tokens.begin() + 1, sequence.tokens.end(), sequence.targets.begin()));
    seen.insert(task->decode(std::span(sequence.tokens).first(1)) + task->decode(sequence.targets));
  }
  CHECK(seen == expected);
}

TEST_CASE("random windows of an evaluation are from anywhere in the split", "[tasks][text]") {
  const std::u32string text = characters(60);
  const TemporaryFile file(utf8(text));
  const auto task = make_task(text_config(file.path(), 7, 0.5));
  std::set<std::string> expected, seen;
  for (std::size_t start = 30; start + 7 < 60; ++start) expected.insert(utf8(text.substr(start, 8)));
  const auto sequence_at = [&](std::uint64_t seed, std::int64_t step, std::int64_t sequence) {
    Batch batch;
    batch.reset(1, task->sizes(lm).length, lm);
    task->random_sequence(lm, Split::validation, seed, step, sequence, batch, 0);
    return sequence_of(batch, lm, 0);
  };
  for (std::int64_t i = 0; i < 2000; ++i) {
    const Sequence sequence = sequence_at(4, i / 12, i % 12);
    CHECK(std::equal(sequence.tokens.begin() + 1, sequence.tokens.end(), sequence.targets.begin()));
    seen.insert(task->decode(std::span(sequence.tokens).first(1)) + task->decode(sequence.targets));
  }
  CHECK(seen == expected);
  // A training sequence is a function of seed, step and index, and differs from a validation sequence.
  const Sequence once = sequence_at(4, 7, 3);
  (void)sequence_at(9, 1, 1);
  CHECK(sequence_at(4, 7, 3) == once);
  std::set<std::vector<std::int32_t>> sequences;
  for (std::int64_t i = 0; i < 12; ++i) sequences.insert(sequence_at(4, 7, i).tokens);
  for (std::int64_t i = 0; i < 12; ++i) sequences.insert(sequence_at(4, 8, i).tokens);
  for (std::int64_t i = 0; i < 12; ++i) sequences.insert(sequence_at(5, 7, i).tokens);
  CHECK(sequences.size() > 15); // of 23 windows
}

TEST_CASE("a training window depends on seed, step and index alone", "[tasks][text]") {
  const TemporaryFile file(utf8(characters(5000)));
  const auto task = make_task(text_config(file.path(), 16)), again = make_task(text_config(file.path(), 16));
  std::set<std::vector<std::int32_t>> windows;
  for (const std::uint64_t seed : {0U, 1U})
    for (std::int64_t step : {0, 1})
      for (std::int64_t sequence : {0, 1}) windows.insert(training_sequence(*task, lm, seed, step, sequence).tokens);
  CHECK(windows.size() == 8);
  const Sequence late = training_sequence(*task, lm, 3, 1000, 11);
  (void)training_sequence(*again, lm, 8, 2, 1);
  CHECK(training_sequence(*again, lm, 3, 1000, 11) == late);
}

TEST_CASE("the vocabulary is every character of the whole file, by code point", "[tasks][text]") {
  const TemporaryFile file("ba😀ä\nba\tbaéz"); // \t, \n, a, b, z, ä, é, 😀
  const auto task = make_task(text_config(file.path(), 2, 0.5));
  const TaskSizes sizes = task->sizes(lm);
  CHECK(sizes.vocabulary == 8);
  CHECK(sizes.classes == 8);
  CHECK(sizes.length == 2);
  CHECK(task->decode(std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}) == "\t\nabzäé😀");
  CHECK(task->encode("😀zäb") == std::vector<std::int32_t>{7, 4, 5, 3});
  CHECK(task->encode("").empty());
}

TEST_CASE("a character that the text has not is named, with those that it has", "[tasks][text]") {
  const TemporaryFile file("abc é\nabc é\nabc é\nabc é\n");
  const auto task = make_task(text_config(file.path(), 2, 0.5));
  CHECK(refusal([&] { (void)task->encode("abß"); }) ==
        "\"ß\" (U+00DF) does not occur in the text that was learnt; its 6 characters are white space and abcé");
  const TemporaryFile dense("abcabcabcabc");
  CHECK_THAT(refusal([&] { (void)make_task(text_config(dense.path(), 2, 0.5))->encode("x"); }),
             Contains("its 3 characters are abc"));
  CHECK_THAT(refusal([&] { (void)task->encode("\t"); }), Contains("U+0009 does not occur"));
  CHECK_THAT(refusal([&] { (void)task->encode("ab\xff"); }), Contains("the given text is not UTF-8: byte 0xFF at byte "
                                                                      "offset 2, line 1"));
  CHECK(failure([&] { (void)task->decode(std::vector<std::int32_t>{6}); }) ==
        "[data] token 6 does not exist: there are 6 different characters");
}

TEST_CASE("a split shorter than one block is refused with its size", "[tasks][text]") {
  const TemporaryFile file(std::string(100, 'a'));
  const auto make = [&](std::int64_t block, double train, double test) {
    return refusal([&] { make_task(text_config(file.path(), block, train, test)); });
  };
  CHECK(make(9, 0.9, 0.0) == "(not refused)");
  CHECK(make(10, 0.9, 0.0) == "[data] path = \"" + file.path() +
                                  "\" is too short: with train = 0.9 and test = 0 its 100 characters leave 10 "
                                  "for the validation split, and a block of 10 takes at least 11; take a longer text, "
                                  "a smaller task.text.block "
                                  "or other fractions");
  CHECK_THAT(make(20, 0.2, 0.0), Contains("leave 20 for the training split, and a block of 20 takes at least 21"));
  CHECK_THAT(make(20, 0.5, 0.2), Contains("leave 20 for the test split, and a block of 20 takes at least 21"));
  CHECK(make(19, 0.5, 0.2) == "(not refused)");
  CHECK_THAT(make(5, 0.9, 0.1), Contains("leave 0 for the validation split"));
  CHECK_THAT(make(5, 0.9, 0.3), Contains("leave 0 for the validation split")); // the fractions overlap
}

TEST_CASE("without a test fraction there is no test split", "[tasks][text]") {
  const TemporaryFile file(utf8(characters(100)));
  CHECK(make_task(text_config(file.path(), 4))->evaluation_sequences(lm, Split::test) == 0);
}

TEST_CASE("a text has no label for a sequence", "[tasks][text]") {
  const TemporaryFile file(utf8(characters(100)));
  const auto task = make_task(text_config(file.path(), 4));
  CHECK(task->refuses(lm).empty());
  CHECK_THAT(task->refuses(TaskFormat::classification),
             Contains("has no label for a whole sequence") && Contains("\"decoder\""));
}

TEST_CASE("chance is the share of training's commonest character in validation", "[tasks][text]") {
  const TemporaryFile file("aaabbaaacb"
                           "abcaabbbbb");
  const auto chance = make_task(text_config(file.path(), 2, 0.5))->chance(lm);
  CHECK(chance.accuracy == 0.3);
  CHECK(chance.how == "always \"a\" (U+0061), the commonest character of the training split");
}

TEST_CASE("the fingerprint is of the content, whatever the path", "[tasks][text]") {
  const TemporaryFile one(utf8(characters(100))), same(utf8(characters(100))), other(utf8(characters(101)));
  const auto fingerprint = [](const TemporaryFile& file) {
    return make_task(text_config(file.path(), 4))->fingerprint();
  };
  CHECK(fingerprint(one) == fingerprint(same));
  CHECK(fingerprint(one) != fingerprint(other));
}

TEST_CASE("a path is relative to the current directory", "[tasks][text]") {
  const TemporaryFile file(utf8(characters(100)));
  const std::string relative = std::filesystem::relative(file.path()).string();
  REQUIRE(std::filesystem::path(relative).is_relative());
  CHECK(make_task(text_config(relative, 4))->fingerprint() == make_task(text_config(file.path(), 4))->fingerprint());
}

TEST_CASE("words, bytes and pieces: split after white space, numbered by training alone", "[tasks][text]") {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "word" + std::to_string(i % 25) + " and\n";
  const TemporaryFile file(text);
  Config config = text_config(file.path(), 3, 0.5, 0.25);
  config.data.tokens = "words";
  const auto words = make_task(config);
  // Half of the bytes end within line 19 or 20; the next white space ends the part.
  std::string joined_parts;
  const TaskSizes sizes = words->sizes(lm);
  CHECK(sizes.vocabulary <= 25);
  for (const Split split : {Split::validation, Split::test})
    for (const Sequence& sequence : evaluation_sequences(*words, lm, split))
      CHECK_THAT(words->decode(sequence.tokens), Contains("word") || Contains("<unknown>") || Contains("and"));
  const auto facts = words->facts();
  CHECK(facts.unit == "words");
  CHECK(facts.sizes[0] + facts.sizes[1] + facts.sizes[2] == 120);           // 40 lines of two words and a line end
  const auto windows = evaluation_sequences(*words, lm, Split::validation); // the split's first token is no target
  std::int64_t unknown = windows.at(0).tokens.at(0) == words->unknown_input() ? 1 : 0;
  for (const Sequence& sequence : windows) unknown += std::ranges::count(sequence.targets, words->unknown_input());
  CHECK_THAT(facts.notes.at(0), Catch::StartsWith("words outside the vocabulary: ") &&
                                    Contains(fmt::format("% of validation ({} of {})", unknown, facts.sizes[1])));
  CHECK_THAT(words->warnings().at(0), Catch::StartsWith("words outside the vocabulary: ") && !Contains("test"));
  CHECK(words->decode(words->encode("word1 and\nword999")) == "word1 and\n<unknown>");

  config.data.tokens = "bytes";
  const auto bytes = make_task(config);
  CHECK(bytes->sizes(lm).vocabulary == 256);
  const auto of_splits = bytes->facts().sizes;
  CHECK(of_splits[0] + of_splits[1] + of_splits[2] == std::ssize(text));
  const auto validation = evaluation_sequences(*bytes, lm, Split::validation);
  CHECK(joined(*bytes, validation, &Sequence::targets) ==
        text.substr(static_cast<std::size_t>(of_splits[0]) + 1, static_cast<std::size_t>(of_splits[1]) - 1));
  CHECK((text[static_cast<std::size_t>(of_splits[0]) - 1] == '\n' ||
         text[static_cast<std::size_t>(of_splits[0]) - 1] == ' '));
}

TEST_CASE("a text's validation and test may be files of their own", "[tasks][text]") {
  const TemporaryFile train("abcabcabcabcabc"), validation("abxabcab"), test("bcabcz");
  Config config = text_config(train.path(), 3);
  config.data.validation_path = validation.path();
  const auto task = make_task(config);
  // The whole of data.path is training data. Its characters are known, and one token stands for all other characters.
  CHECK(task->facts().sizes == std::array<std::int64_t, 3>{15, 8, 0});
  CHECK(task->sizes(lm).vocabulary == 4);
  CHECK(joined(*task, evaluation_sequences(*task, lm, Split::validation), &Sequence::targets) == "b\uFFFDabcab");
  config.data.test_path = test.path();
  const auto both = make_task(config);
  CHECK(both->facts().sizes == std::array<std::int64_t, 3>{15, 8, 6});
  CHECK(both->facts().files == std::array<std::string, 3>{train.path(), validation.path(), test.path()});
  CHECK(joined(*both, evaluation_sequences(*both, lm, Split::test), &Sequence::targets) == "cabc\uFFFD");
  CHECK(both->fingerprint() != task->fingerprint());
  // Without a validation file, the rest of data.path is the validation split. Parts of a file end after white space.
  const TemporaryFile spaced("abc abc abc abc abc ");
  config.data.path = spaced.path();
  config.data.validation_path = "";
  config.data.train = 0.5;
  CHECK(make_task(config)->facts().sizes == std::array<std::int64_t, 3>{12, 8, 6});
}

TEST_CASE("a text's file that is missing, empty or too short is refused with its option", "[tasks][text]") {
  const TemporaryFile train("abcabcabcabcabc"), empty(""), brief("abc");
  const auto message = [&](const std::string& path) {
    Config config = text_config(train.path(), 3);
    config.data.validation_path = path;
    return refusal([&] { make_task(config); });
  };
  CHECK_THAT(message("/nowhere"), Contains("[data] validation_path = \"/nowhere\" does not exist"));
  CHECK_THAT(message(empty.path()), Contains("[data] validation_path = \"" + empty.path() + "\" is empty"));
  CHECK(message(brief.path()) == "[data] validation_path = \"" + brief.path() +
                                     "\" is too short: it has 3 characters for the validation split, and a block of 3 "
                                     "takes at least 4; take a longer text or a smaller task.text.block");
}

TEST_CASE("a byte-order mark is no part of a text", "[tasks][text]") {
  const auto task_of = [](const std::string& bytes, const std::string& tokens) {
    const TemporaryFile file(bytes);
    Config config = text_config(file.path(), 4, 0.5);
    config.data.tokens = tokens;
    return make_task(config)->fingerprint();
  };
  const std::string text = "abc abd abc abd abc abd abc abd abc abd abc abd";
  CHECK(task_of("\xEF\xBB\xBF" + text, "characters") == task_of(text, "characters"));
  CHECK(task_of("\xEF\xBB\xBF" + text, "words") == task_of(text, "words"));
  CHECK(task_of("\xEF\xBB\xBF" + text, "bytes") != task_of(text, "bytes"));
}
