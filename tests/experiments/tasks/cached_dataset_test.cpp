// Tests of cached datasets: a task from a cached dataset equals the task from the original files.
#include "experiments/config/config.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/files.hpp"
#include "experiments/tasks/cached_dataset.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/data/data_cache_support.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <memory>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

/// Only files above a certain size are cached; a long word makes few examples large enough.
const std::string long_word(150, 'w');

/// Examples "aN some words TAB bN more words TAB 0 1 1"; some examples are equal.
std::string table(int examples, bool counts = false) {
  std::string out;
  for (int i = 0; i < examples; ++i) {
    const std::string a = std::to_string(i * 7919 % (examples / 2)), b = std::to_string(i % 613);
    out += "a" + a + " which is followed by a" + b + " and by " + long_word + "\tb" + b + " that é follows" +
           (i % 50 == 0 ? " and is much longer than all of the others are" : "");
    if (counts) out += i % 50 == 0 ? "\t0 1 1 0 0 0 0 0 0 0 0 0 0 0" : "\t0 1 1 0";
    out += "\n";
  }
  return out;
}

/// All results that a task can give.
std::string told(const Task& task, TaskFormat format) {
  std::string out = task.fingerprint() + task.facts().unit;
  const auto add = [&](const auto& numbers) {
    for (const auto number : numbers) out += " " + std::to_string(number);
    out += "\n";
  };
  for (const std::string& note : task.facts().notes) out += "\n" + note;
  for (const std::string& file : task.facts().files) out += "\n" + file;
  const Task::Chance chance = task.chance(format);
  out += "\n" + chance.how + std::to_string(chance.accuracy) + (chance.loss ? std::to_string(chance.loss->value) : "");
  const TaskSizes sizes = task.sizes(format);
  add(std::vector<std::int64_t>{sizes.vocabulary, sizes.length, sizes.classes, sizes.output_length, sizes.begin,
                                sizes.end, sizes.shared_vocabulary, sizes.one_token_outputs});
  const auto example = [&](const auto& write) {
    Batch batch;
    batch.reset(1, sizes, format);
    write(batch);
    for (const auto* numbers : {&batch.tokens, &batch.targets, &batch.outputs, &batch.lengths, &batch.output_lengths})
      add(*numbers);
  };
  for (const Split split : all_splits)
    for (std::int64_t i = 0; i < *task.listed_sequences(format, split); i += split == Split::train ? 97 : 11) {
      example([&](Batch& batch) { task.listed_sequence(format, split, i, batch, 0); });
      const auto reference = split == Split::train ? std::nullopt : task.reference(split, i);
      if (reference) out += reference->text + (reference->in_vocabulary ? " +" : " -");
    }
  for (std::int64_t step = 0; step < 200; ++step)
    example([&](Batch& batch) { task.training_sequence(format, 3, step, step % 4, batch, 0); });
  std::vector<std::int32_t> some;
  for (std::int32_t i = 0; i < std::min<std::int64_t>(sizes.vocabulary, 300); ++i) some.push_back(i);
  out += task.decode(some);
  add(task.encode("a17 which é nobody knows"));
  return out;
}

/// Makes the task twice from the cache and once without it. @param files  number of cached files afterwards
void check(const Config& config, TaskFormat format, std::size_t files) {
  const Scratch scratch;
  std::string without;
  {
    const Environment cache("XDG_CACHE_HOME", "/dev/null/cache"), temporary("TMPDIR", "/dev/null");
    without = told(*make_task(config), format);
  }
  const Environment cache("XDG_CACHE_HOME", scratch.path.string());
  CHECK((told(*make_task(config), format) == without));
  const auto kept = files_in(scratch / "heed/data", ".kept");
  REQUIRE(kept.size() == files);
  CHECK((told(*make_task(config), format) == without));
  // A damaged file is made again.
  std::string bytes = *read_file(kept.front());
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 4);
  write_file(kept.front(), bytes, Durability::process);
  CHECK((told(*make_task(config), format) == without));
}

} // namespace

TEST_CASE("translation from what is kept is translation from its files", "[tasks][kept]") {
  const TemporaryFile file(table(25'000)), counted(table(25'000, true)), small(table(3'000));
  Config config = task_config("translation");
  config.data.path = file.path();
  config.data.tokens = "words";
  config.data.train = 0.9;
  config.data.test = 0.05;
  config.train.batch = 4;
  check(config, TaskFormat::sequence_to_sequence, 1);

  Config apart = config; // two vocabularies, cut and dropped examples, a split with a file of its own
  apart.task_options["shared_vocabulary"] = false;
  apart.data.validation_path = small.path();
  apart.data.max_length = 10;
  apart.data.too_long = "cut";
  apart.data.min_count = 3;
  check(apart, TaskFormat::language_model, 1);
  apart.data.too_long = "drop";
  apart.data.bucket = 5;
  check(apart, TaskFormat::sequence_to_sequence, 1);

  Config counts = config;
  counts.data.path = counted.path();
  counts.task_options["counts"] = true;
  check(counts, TaskFormat::sequence_to_sequence, 1);

  Config letters = config;
  letters.data.tokens = "bytes";
  letters.data.shuffle = false;
  check(letters, TaskFormat::sequence_to_sequence, 1);
}

TEST_CASE("translation of two files of lines is kept, too", "[tasks][kept]") {
  std::string from, to;
  for (int i = 0; i < 100'000; ++i) {
    from += "line " + std::to_string(i) + " of the inputs, in words\r\n";
    to += "and its translation " + std::to_string(i % 100) + "\n";
  }
  const TemporaryFile inputs(from), outputs(to);
  Config config = task_config("translation", {{"target", outputs.path()}});
  config.data.path = inputs.path();
  config.data.tokens = "characters";
  config.train.batch = 4;
  check(config, TaskFormat::sequence_to_sequence, 1);
}

TEST_CASE("labelled text from what is kept is labelled text from its file", "[tasks][kept]") {
  std::string examples = "label,text\n";
  for (int i = 0; i < 30'000; ++i)
    examples += std::string(i % 3 == 0 ? "good" : "\"bad, or so\"") + ",\"review " + std::to_string(i) +
                " says \"\"no\"\",\n" + long_word + " and ends on another line\"\n";
  const TemporaryFile file(examples);
  Config config = task_config("labelled_text");
  config.data.path = file.path();
  config.data.tokens = "words";
  config.train.batch = 4;
  check(config, TaskFormat::classification, 1);
}

TEST_CASE("of little data nothing is kept", "[tasks][kept]") {
  const TemporaryFile file(table(1'000));
  Config config = task_config("translation");
  config.data.path = file.path();
  config.data.tokens = "words";
  config.train.batch = 4;
  const Scratch scratch;
  const Environment cache("XDG_CACHE_HOME", scratch.path.string());
  make_task(config);
  CHECK(std::filesystem::is_empty(scratch.path));
}

TEST_CASE("a dataset depends on all options of data and task but those of order", "[tasks][kept]") {
  const Scratch scratch;
  const auto place = [&](std::uint64_t) { return DataCachePlace{scratch.path}; };
  const TemporaryFile file(table(100));
  Config config = task_config("translation");
  config.data.path = file.path();
  config.data.tokens = "words";
  int made = 0;
  const auto is_made = [&](const Config& of) {
    const int before = made;
    cached_dataset(
        of, named_files(of),
        [&] {
          ++made;
          Dataset dataset;
          dataset.input = dataset.output = word_vocabulary({"a"});
          dataset.examples[0].add({}, {});
          return dataset;
        },
        place);
    return made > before;
  };
  CHECK(is_made(config));
  CHECK(!is_made(config));
  const auto changed = [&](const auto& change) {
    Config other = config;
    change(other);
    return is_made(other);
  };
  CHECK(!changed([](Config& c) { c.data.bucket = 7; }));
  CHECK(!changed([](Config& c) { c.train.batch = 7; }));
  CHECK(changed([](Config& c) { c.data.train = 0.75; }));
  CHECK(changed([](Config& c) { c.data.train = 0.7500001; }));
  CHECK(changed([](Config& c) { c.data.min_count = 2; }));
  CHECK(changed([](Config& c) { c.data.shuffle = false; }));
  CHECK(changed([](Config& c) { c.data.max_length = 9; }));
  CHECK(changed([](Config& c) { c.data.too_long = "cut"; }));
  CHECK(changed([](Config& c) { c.data.validation_rows = 9; }));
  CHECK(changed([](Config& c) { c.task.seed = 9; }));
  CHECK(changed([](Config& c) { c.task_options["counts"] = true; }));
  std::ofstream(file.path(), std::ios::app) << "one\tmore\n";
  CHECK(is_made(config));
  CHECK(!is_made(config));
}

TEST_CASE("what is kept of a dataset is version 2", "[tasks][kept]") {
  // As for a text (token_text_test.cpp): if this test fails, increase the version in cached_dataset.cpp and change this
  // value with it.
  const Scratch scratch;
  Dataset dataset;
  dataset.name = "translation";
  dataset.fingerprint = "f";
  dataset.input = word_vocabulary({"<unknown>", "a", "b"}, 0);
  dataset.output = word_vocabulary({"<unknown>", "é"}, 0);
  dataset.examples[0].add(std::vector<std::int32_t>{1, 2}, std::vector<std::int32_t>{0}, std::vector<std::int32_t>{1});
  dataset.references[1] = {{"é", false}};
  dataset.notes = {"a note"};
  dataset.chance = {0.5, "how", std::nullopt, Task::Level{0.25, "of it"}};
  const TemporaryFile file("x\ty\n");
  Config config = task_config("translation");
  config.data.path = file.path();
  config.data.tokens = "words";
  cached_dataset(
      config, named_files(config), [&] { return dataset; },
      [&](std::uint64_t) { return DataCachePlace{scratch.path}; });
  // Without the index, which contains the path.
  const std::string bytes = *read_file(files_in(scratch.path, ".kept").at(0));
  CHECK(content_hash(bytes.substr(0, bytes.find("listing 2\n") - 8)).substr(0, 8) == "02d12970");
}
