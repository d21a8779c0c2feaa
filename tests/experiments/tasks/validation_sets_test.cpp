// Tests of [data] validation_sets: a set has the sequences of its file, and leaves training as it is without it.
#include "experiments/config/config.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <algorithm>
#include <fmt/format.h>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

struct SetCase {
  const char* kind;
  const char* tokens;
  TaskFormat format;
  std::string sequences, validation, set; ///< contents of files
  OptionValues options = {};
};

const OptionValues tab_separated = {
    {"format", std::string("tsv")}, {"header", false}, {"text", std::string("1")}, {"label", std::string("2")}};

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

std::vector<SetCase> set_cases() {
  const std::string pairs = repeated("a b\tx\nb c a\ty x\nc\tz\n", 5);
  const std::string labels = repeated("good b\tyes\nbad c a\tno\n", 8);
  const std::string scan = repeated("IN: jump OUT: I_JUMP\nIN: walk twice OUT: I_WALK I_WALK\nIN: run OUT: I_RUN\n",
                                    1) +
                           "IN: look OUT: I_LOOK\nIN: run twice OUT: I_RUN I_RUN\n";
  return {
      {"translation", "words", s2s, pairs, "b\ty\nc\tz\n", "a b c b a a\tx y z z y x\nb\tx\n"},
      {"translation", "characters", lm, pairs, "b\ty\nc\tz\n", "a b c\tz z y x\n"},
      {"labelled_text", "words", TaskFormat::classification, labels, "good c\tyes\n", "bad b c a a\tno\ngood\tyes\n",
       tab_separated},
      {"text",
       "words",
       lm,
       repeated("one two three four\n", 20),
       repeated("two one\n", 9),
       repeated("four four one\n", 9),
       {{"block", std::int64_t{5}}}},
      {"text",
       "characters",
       lm,
       repeated("abcab cab ", 20),
       repeated("ba", 12),
       repeated("ccb", 9),
       {{"block", std::int64_t{5}}}},
      {"scan", "words", s2s, scan, "IN: jump OUT: I_JUMP\n", "IN: look twice OUT: I_LOOK I_LOOK\n"},
  };
}

std::vector<Sequence> trained(const Task& task, TaskFormat format) {
  std::vector<Sequence> sequences;
  for (std::int64_t i = 0; i < 12; ++i) {
    Batch batch;
    batch.reset(1, task.sizes(format), format);
    task.training_sequence(format, 3, i / 4, i % 4, batch, 0);
    sequences.push_back(format == s2s ? Sequence{batch.tokens, batch.targets} : sequence_of(batch, format, 0));
  }
  return sequences;
}

/// The sequences without padding, as texts and numbers.
std::vector<std::string> validation(const Task& task, TaskFormat format) {
  std::vector<std::string> sequences;
  for (std::int64_t i = 0; i < task.evaluation_sequences(format, Split::validation); ++i) {
    Batch batch;
    batch.reset(1, task.sizes(format), format);
    task.evaluation_sequence(format, Split::validation, i, batch, 0);
    batch.trim();
    sequences.push_back(fmt::format("{} | {}", fmt::join(batch.tokens, " "), fmt::join(batch.targets, " ")));
  }
  std::ranges::sort(sequences);
  return sequences;
}

} // namespace

TEST_CASE("a further validation set has its file's sequences, and training is as without it", "[tasks][sets]") {
  for (const SetCase& c : set_cases()) {
    INFO(c.kind << " " << c.tokens);
    const TemporaryFile sequences(c.sequences), own(c.validation), set(c.set), longer(c.set + c.set);
    Config config = task_config(c.kind, c.options);
    config.data.path = sequences.path();
    config.data.tokens = c.tokens;
    config.data.train = 0.5;
    config.train.batch = 4;
    config.task.validation = 2;
    const auto plain = make_task(config);
    Config with_set = config;
    with_set.data.validation_sets = {"further = " + set.path()};
    const auto task = make_task(with_set);
    REQUIRE(task->sets().size() == 1);
    CHECK(task->sets()[0].name == "further");
    CHECK(validation(*task, c.format) == validation(*plain, c.format));
    CHECK(trained(*task, c.format) == trained(*plain, c.format));
    CHECK(task->fingerprint() != plain->fingerprint());
    CHECK(task->fingerprint().starts_with(plain->fingerprint()));
    const TemporaryFile copy(c.set);
    with_set.data.validation_sets = {"further=" + copy.path()};
    CHECK(make_task(with_set)->fingerprint() == task->fingerprint());
    with_set.data.validation_sets = {"further=" + longer.path()};
    CHECK(make_task(with_set)->fingerprint() != task->fingerprint());
    with_set.data.validation_sets = {"another=" + set.path()};
    CHECK(make_task(with_set)->fingerprint() != task->fingerprint());

    // Where validation has a file of its own, the set's sequences are those that this file would give in its place.
    config.data.validation_path = own.path();
    with_set = config;
    with_set.data.validation_sets = {"first = " + own.path(), "second = " + set.path()};
    const auto both = make_task(with_set);
    REQUIRE(both->sets().size() == 2);
    CHECK(validation(*both->sets()[0].task, c.format) == validation(*make_task(config), c.format));
    config.data.validation_path = set.path();
    CHECK(validation(*both->sets()[1].task, c.format) == validation(*make_task(config), c.format));
    CHECK(validation(*both->sets()[1].task, c.format) != validation(*both, c.format));
  }
}

TEST_CASE("an entry of validation_sets that names no set is refused with what it may be", "[tasks][sets]") {
  const auto refused = [](std::vector<std::string> entries) {
    DataOptions data;
    data.validation_sets = std::move(entries);
    return refusal([&] { validation_sets(data); });
  };
  CHECK(refused({"a.tsv"}) == "[data] validation_sets holds \"a.tsv\": it has no '='; write NAME = FILE, for example: "
                              "validation_sets = [\"long = long.tsv\"]");
  CHECK_THAT(refused({"a.b = c"}), Contains("a name has letters, digits, '_' and '-'"));
  CHECK_THAT(refused({" = c"}), Contains("a name has letters"));
  CHECK_THAT(refused({"a = "}), Contains("it names no file"));
  CHECK_THAT(refused({"a = b", "a = c"}), Contains("\"a = c\": the name 'a' is there twice"));
  DataOptions fine;
  fine.validation_sets = {"long-examples_2 = some folder/a = b.tsv"};
  CHECK(validation_sets(fine).at(0).path == "some folder/a = b.tsv");
}

TEST_CASE("a further set with what training's file does not have is refused", "[tasks][sets]") {
  const auto refused = [](const std::string& kind, const std::string& tokens, const std::string& sequences,
                          const std::string& set) {
    const TemporaryFile path(sequences), of_set(set);
    Config config = task_config(kind);
    config.data.path = path.path();
    config.data.tokens = tokens;
    config.data.train = 0.5;
    config.data.validation_sets = {"other = " + of_set.path()};
    if (kind == "labelled_text") config.task_options = tab_separated;
    if (kind == "text") config.task_options = {{"block", std::int64_t{3}}};
    return refusal([&] { make_task(config); });
  };
  const std::string labels = repeated("a\tyes\nb\tno\n", 8);
  CHECK_THAT(refused("labelled_text", "words", labels, "a\tyes\nb\tmaybe\n"),
             Contains(":2: no example of data.path has the label \"maybe\""));
  CHECK_THAT(refused("labelled_text", "words", labels, ""),
             Contains("validation_sets") && Catch::StartsWith("validation set \"other\": "));
  CHECK_THAT(refused("text", "words", repeated("a b c d ", 9), "a b"),
             Contains("[data] validation_sets: ") && Contains("is too short"));
  CHECK_THAT(refused("text", "characters", repeated("abcd", 9), "abcdxabcd"), Contains("x"));
}
