// Tests of the splits of generated tasks: which examples each one has, and how many.
#include "experiments/tasks/generated_task.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/generated_support.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

/// The number of available examples for a split, from the error message for a request of more.
std::int64_t most_of(Config config, const std::string& split) {
  config.task.validation = config.task.test = 16;
  (split == "test" ? config.task.test : config.task.validation) = 100000;
  const std::string message = refusal([&] { make_task(config); });
  const std::string before = "(task." + split + "=";
  const auto at = message.find(before);
  REQUIRE(at != message.npos);
  return std::stoll(message.substr(at + before.size()));
}

} // namespace

TEST_CASE("the splits share no example, and none stands twice in a split for evaluation", "[tasks]") {
  for (const Config& config : generated_configs()) {
    INFO(config.task.kind);
    const auto task = make_task(config);
    std::map<Split, std::set<std::string>> examples;
    for (const Split split : all_splits) {
      for (const Sequence& sequence : evaluation_sequences(*task, TaskFormat::language_model, split))
        CHECK(examples[split].insert(joined(prompt_of(*task, sequence))).second);
      CHECK(static_cast<std::int64_t>(examples[split].size()) ==
            task->evaluation_sequences(TaskFormat::language_model, split));
    }
    for (const std::uint64_t seed : {0U, 1U})
      for (std::int64_t i = 0; i < 5000; ++i)
        examples[Split::train].insert(joined(prompt_of(*task, training_sequence(*task, TaskFormat::language_model, seed,
                                                                                i, i % 7))));
    std::set<std::string> all;
    for (const auto& [split, some] : examples) all.insert(some.begin(), some.end());
    CHECK(all.size() ==
          examples[Split::train].size() + examples[Split::validation].size() + examples[Split::test].size());
  }
}

TEST_CASE("together the splits are all there is, in about 80 : 10 : 10", "[tasks]") {
  Config config = task_config("modular_addition", whole_numbers({{"modulus", 41}}));
  config.task.validation = most_of(config, "validation");
  config.task.test = most_of(config, "test");
  const auto task = make_task(config);
  const double examples = 41 * 41;
  std::set<Tokens> all;
  for (const Split split : all_splits) {
    auto sequences = evaluation_sequences(*task, TaskFormat::classification, split);
    if (split == Split::train)
      for (std::int64_t i = 0; i < 40000; ++i)
        sequences.push_back(training_sequence(*task, TaskFormat::classification, 0, i, 0));
    const std::set<Sequence, decltype([](const Sequence& a, const Sequence& b) { return a.tokens < b.tokens; })>
        different(sequences.begin(), sequences.end());
    sequences.assign(different.begin(), different.end());
    const double share = split == Split::train ? 0.8 : 0.1;
    const double error = std::sqrt(examples * share * (1 - share));
    CHECK(std::abs(static_cast<double>(sequences.size()) - share * examples) < 4 * error);
    for (const Sequence& sequence : sequences) all.insert(sequence.tokens);
  }
  CHECK(static_cast<double>(all.size()) == examples);
}

TEST_CASE("splits of few examples are the first that so many draws give, as those of many are", "[tasks]") {
  struct Case {
    std::string kind;
    OptionValues options;
    std::int64_t validation, test; // the number of available examples, or fewer
  };
  std::vector<Case> cases;
  for (const char* kind : {"copy", "reverse", "sort"})
    for (const auto& options : {whole_numbers({{"length", 4}, {"symbols", 8}}), // 4096
                                // 780: short examples
                                whole_numbers({{"length", 4}, {"min_length", 1}, {"symbols", 5}}),
                                whole_numbers({{"length", 5}, {"min_length", 1}, {"symbols", 12}}), // more frequent
                                // an input space of its own
                                whole_numbers({{"length", 3}, {"symbols", 7}, {"test_length", 4}}),
                                whole_numbers({{"length", 4}, {"symbols", 6}, {"test_length", 5}})}) // 1296 and 7776
      cases.push_back({kind, options, 512, 512});
  cases.push_back({"copy", whole_numbers({{"length", 4}, {"symbols", 8}}), 100, 512});
  cases.push_back({"copy", whole_numbers({{"length", 4}, {"symbols", 8}}), 512, 100});
  for (const int length : {8, 10, 12}) cases.push_back({"parity", whole_numbers({{"length", length}}), 512, 512});
  for (const Case& c : cases) {
    Config config = task_config(c.kind, c.options);
    config.task.validation = c.validation;
    config.task.test = c.test;
    const auto task = make_task(config);
    const auto inputs = [&](Split split) {
      std::vector<Tokens> out;
      for (std::int64_t i = 0; i < task->evaluation_sequences(TaskFormat::sequence_to_sequence, split); ++i) {
        Batch batch;
        batch.reset(1, task->sizes(TaskFormat::sequence_to_sequence), TaskFormat::sequence_to_sequence);
        task->evaluation_sequence(TaskFormat::sequence_to_sequence, split, i, batch, 0);
        out.emplace_back(batch.tokens.begin(), batch.tokens.begin() + batch.lengths[0]);
      }
      return out;
    };
    const auto number = [&](const char* name, std::int64_t missing) {
      const auto found = c.options.find(name);
      return found == c.options.end() ? missing : std::get<std::int64_t>(found->second);
    };
    const std::int64_t length = number("length", 0), symbols = c.kind == "parity" ? 2 : number("symbols", 0);
    const std::int64_t test_length = number("test_length", 0);
    for (const Split split : all_splits) {
      INFO(task->fingerprint() << " " << static_cast<int>(split));
      const bool own = split == Split::test && test_length > 0;
      const Lengths lengths = own ? Lengths{length + 1, test_length} : Lengths{number("min_length", length), length};
      const std::int64_t wanted = split == Split::test ? c.test : c.validation;
      const double most = std::min(static_cast<double>(wanted), count_inputs(lengths, symbols));
      RandomSource random({0, Stream::evaluation_sequences, static_cast<std::uint64_t>(split)});
      std::vector<Tokens> expected;
      std::set<Tokens> seen;
      Tokens input;
      for (double left = 20 * most * (std::log(most) + 10) + 2000; left >= 1 && std::ssize(expected) < wanted; --left) {
        draw_symbols(random, lengths, symbols, input);
        const std::uint64_t hash = XXH3_64bits_withSeed(input.data(), input.size() * sizeof(std::int32_t), 0);
        const std::uint64_t tenth = scaled_below(hash, 10);
        const Split of = tenth < 8 ? Split::train : tenth == 8 ? Split::validation : Split::test;
        if ((own || of == split) && seen.insert(input).second) expected.push_back(input);
      }
      CHECK((inputs(split) == expected));
    }
  }
}

TEST_CASE("training goes through all of its part, and each example is as likely as another", "[tasks]") {
  Config config = task_config("modular_addition", whole_numbers({{"modulus", 17}}));
  config.task.validation = config.task.test = 16;
  const auto task = make_task(config);
  std::map<Tokens, int> count;
  constexpr int draws = 40000;
  for (std::int64_t i = 0; i < draws; ++i)
    ++count[training_sequence(*task, TaskFormat::classification, 9, i / 32, i % 32).tokens];
  // All of the 17 * 17 pairs that are not in the evaluation splits.
  REQUIRE(static_cast<std::int64_t>(count.size()) == 17 * 17 - most_of(config, "validation") - most_of(config, "test"));
  const double expected = draws / static_cast<double>(count.size());
  double chi_square = 0;
  for (const auto& [example, times] : count) chi_square += (times - expected) * (times - expected) / expected;
  const double freedom = static_cast<double>(count.size()) - 1;
  // a chi-square variable with `freedom` degrees of freedom has variance 2 freedom
  CHECK(std::abs(chi_square - freedom) < 5 * std::sqrt(2 * freedom));
}

TEST_CASE("a listed training part is gone through in epochs, and validation is all the rest", "[tasks][modular]") {
  for (const bool full : {false, true}) {
    Config config = task_config("modular_addition", {{"modulus", std::int64_t{11}}, {"train", 0.3}});
    config.train.batch = 9;
    config.train.full_batch = full;
    const auto task = make_task(config);
    constexpr TaskFormat format = TaskFormat::classification;
    CHECK(task->facts().sizes == std::array<std::int64_t, 3>{36, 85, 0}); // 0.3 of 121
    CHECK(task->listed_sequences(format, Split::train) == 36);
    CHECK(task->evaluation_sequences(format, Split::train) == 36);
    CHECK(task->evaluation_sequences(format, Split::test) == 0);
    CHECK(task->training_sequences(format, 0, 0) == (full ? 36 : 0));
    CHECK_THAT(task->facts().notes.back(), Contains("there is no test"));
    std::set<Tokens> training, validation;
    for (const Sequence& sequence : evaluation_sequences(*task, format, Split::train)) training.insert(sequence.tokens);
    for (const Sequence& sequence : evaluation_sequences(*task, format, Split::validation))
      validation.insert(sequence.tokens);
    CHECK(training.size() == 36);
    CHECK(validation.size() == 85);
    // Each epoch (four steps of nine sequences, or one step of all sequences) has every training example once, in
    // another order.
    std::set<std::vector<Tokens>> orders;
    for (const std::uint64_t seed : {0U, 1U})
      for (std::int64_t epoch = 0; epoch < 5; ++epoch) {
        std::vector<Tokens> sequences;
        for (std::int64_t i = 0; i < 36; ++i)
          sequences.push_back(
              training_sequence(*task, format, seed, full ? epoch : 4 * epoch + i / 9, full ? i : i % 9).tokens);
        CHECK(std::set<Tokens>(sequences.begin(), sequences.end()) == training);
        CHECK(orders.insert(sequences).second);
      }
    for (const Tokens& tokens : training) validation.insert(tokens);
    CHECK(validation.size() == 121);
    // Another task.seed gives another training part.
    config.task.seed = 1;
    std::set<Tokens> others;
    for (const Sequence& sequence : evaluation_sequences(*make_task(config), format, Split::train))
      others.insert(sequence.tokens);
    CHECK(others != training);
    CHECK(make_task(config)->fingerprint() == "modular_addition 1: modulus = 11, train = 0.3; seed = 1");
  }
}

TEST_CASE("the evaluation sequences follow task.seed, and a larger split begins with the smaller", "[tasks]") {
  Config config = task_config("copy");
  config.task.validation = 40;
  const auto forty = evaluation_sequences(*make_task(config), TaskFormat::language_model, Split::validation);
  CHECK(forty.size() == 40);
  config.task.validation = 100;
  const auto hundred = evaluation_sequences(*make_task(config), TaskFormat::language_model, Split::validation);
  REQUIRE(hundred.size() == 100);
  CHECK(std::equal(forty.begin(), forty.end(), hundred.begin()));
  config.task.seed = 1;
  CHECK(evaluation_sequences(*make_task(config), TaskFormat::language_model, Split::validation) != hundred);
}

TEST_CASE("the splits have the sizes asked for", "[tasks]") {
  Config config = task_config("copy");
  config.task.validation = 33;
  config.task.test = 0;
  const auto task = make_task(config);
  CHECK(task->evaluation_sequences(TaskFormat::language_model, Split::train) == 33);
  CHECK(task->evaluation_sequences(TaskFormat::language_model, Split::validation) == 33);
  CHECK(task->evaluation_sequences(TaskFormat::language_model, Split::test) == 0);
}

TEST_CASE("too few examples for the splits are refused, with the options to raise", "[tasks]") {
  const auto message = refusal([] { make_task(task_config("parity", whole_numbers({{"length", 4}}))); });
  CHECK_THAT(message, Contains("[task.parity] length = 4, min_length = 0, test_length = 0 gives only 16 different "
                               "examples, too few for splits that share none: training would have "));
  CHECK_THAT(message, Contains("and each needs 16; raise task.parity.length"));
  CHECK_THAT(refusal([] {
               make_task(task_config("copy", whole_numbers({{"length", 2}, {"symbols", 3}})));
             }),
             Contains("gives only 9 different examples") && Contains("raise task.copy.length or task.copy.symbols"));
  CHECK_THAT(refusal([] {
               make_task(task_config("recall", whole_numbers({{"pairs", 1}, {"keys", 2}, {"values", 2}})));
             }),
             Contains("gives only 4 different examples") &&
                 Contains("raise task.recall.pairs, task.recall.keys or task.recall.values"));
  CHECK_THAT(refusal([] {
               make_task(task_config("modular_addition", whole_numbers({{"modulus", 5}})));
             }),
             Contains("gives only 25 different examples") && Contains("raise task.modular_addition.modulus"));
}

TEST_CASE("a wish for more examples than there are is refused with how many there are", "[tasks]") {
  Config config = task_config("modular_addition", whole_numbers({{"modulus", 41}}));
  config.task.test = 16;
  config.task.validation = 5000;
  const std::int64_t most = most_of(config, "validation");
  CHECK(most > 41 * 41 / 10 - 50);
  CHECK(most < 41 * 41 / 10 + 50);
  const auto message = refusal([&] { make_task(config); });
  CHECK_THAT(message,
             Contains("[task] validation = 5000 is more than there is: of the 1681 different examples that "
                      "[task.modular_addition] modulus = 41, operation = +, train = 0 gives, " +
                      std::to_string(most) + " are for the validation; take " + std::to_string(most) + " or fewer"));
  CHECK_THAT(message, Contains("or raise task.modular_addition.modulus"));
  config.task.validation = most;
  CHECK(make_task(config)->evaluation_sequences(TaskFormat::classification, Split::validation) == most);
  config.task.validation = most + 1;
  CHECK_THAT(refusal([&] { make_task(config); }), Contains("is more than there is"));
  config.task.validation = 16;
  config.task.test = 5000;
  CHECK_THAT(refusal([&] { make_task(config); }), Contains("[task] test = 5000 is more than there is"));
  // Without a requested size, a split has as many sequences as there are, and a note says so.
  config.task = TaskOptions{.kind = config.task.kind};
  const auto task = make_task(config);
  CHECK(task->evaluation_sequences(TaskFormat::classification, Split::validation) == most);
  CHECK_THAT(task->facts().notes.at(1), Contains("validation has all " + std::to_string(most) +
                                                 " examples that are for it: fewer than "
                                                 "task.validation, 512"));
}

TEST_CASE("who asks for fewer examples than the least gets them", "[tasks]") {
  Config config = task_config("copy");
  config.task.validation = 3;
  config.task.test = 2;
  const auto task = make_task(config);
  CHECK(task->evaluation_sequences(TaskFormat::language_model, Split::validation) == 3);
  CHECK(task->evaluation_sequences(TaskFormat::language_model, Split::test) == 2);
}
