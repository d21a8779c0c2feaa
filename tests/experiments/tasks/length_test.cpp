// Tests of tasks whose test sequences may be longer than the training sequences (addition, and tasks on symbols and
// bits), and of sequences of any requested length.
#include "experiments/tasks/task_info.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

struct Pair {
  std::string input, output;
};

/// The sequences of a split; 300 sequences for training. For a language model, the input is the whole sequence.
std::vector<Pair> pairs(const Task& task, Split split, TaskFormat format = s2s) {
  std::vector<Pair> out;
  const std::int64_t sequences = split == Split::train ? 300 : task.evaluation_sequences(format, split);
  for (std::int64_t i = 0; i < sequences; ++i) {
    Batch batch;
    batch.reset(1, task.sizes(format), format);
    if (split == Split::train) task.training_sequence(format, 0, i / 8, i % 8, batch, 0);
    else task.evaluation_sequence(format, split, i, batch, 0);
    batch.trim();
    out.push_back({task.decode(batch.tokens), format == lm ? "" : task.decode_output(format, batch.targets)});
  }
  return out;
}

/// Splits text at spaces.
std::size_t words(const std::string& text) {
  std::istringstream in(text);
  return static_cast<std::size_t>(std::distance(std::istream_iterator<std::string>(in), {}));
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

/// The operands of "1 2 + 3".
std::pair<std::string, std::string> operands(const Pair& pair) {
  const std::string all = without_spaces(pair.input);
  const std::size_t plus = all.find('+');
  REQUIRE(plus != all.npos);
  return {all.substr(0, plus), all.substr(plus + 1)};
}

std::size_t symbols(const std::string& text) { return without_spaces(text).size(); }

} // namespace

TEST_CASE("addition gives sums, in either order of digits", "[tasks][addition]") {
  for (const bool reverse : {false, true}) {
    const auto task = make_task(task_config("addition", {{"digits", std::int64_t{5}}, {"reverse", reverse}}));
    std::set<std::size_t> lengths;
    bool first_longer = false, second_longer = false;
    for (const Split split : all_splits)
      for (const Pair& pair : pairs(*task, split)) {
        const auto [a, b] = operands(pair);
        std::string sum = std::to_string(std::stoll(a) + std::stoll(b));
        if (reverse) std::ranges::reverse(sum);
        CHECK(without_spaces(pair.output) == sum);
        CHECK((a == "0" || a.front() != '0'));
        CHECK((b == "0" || b.front() != '0'));
        lengths.insert(std::max(a.size(), b.size()));
        first_longer |= a.size() > b.size();
        second_longer |= b.size() > a.size();
      }
    CHECK(lengths == std::set<std::size_t>{1, 2, 3, 4, 5});
    CHECK(first_longer);
    CHECK(second_longer);
  }
}

TEST_CASE("addition's digits have bounds, and its test may have more of them", "[tasks][addition]") {
  const auto task = make_task(task_config(
      "addition", {{"digits", std::int64_t{4}}, {"min_digits", std::int64_t{2}}, {"test_digits", std::int64_t{30}}}));
  const auto digits = [&](Split split) {
    std::set<std::size_t> out;
    for (const Pair& pair : pairs(*task, split)) {
      const auto [a, b] = operands(pair);
      out.insert(std::max(a.size(), b.size()));
    }
    return out;
  };
  CHECK(digits(Split::train) == std::set<std::size_t>{2, 3, 4});
  CHECK(digits(Split::validation) == std::set<std::size_t>{2, 3, 4});
  const auto test = digits(Split::test);
  CHECK(*test.begin() == 5);
  CHECK(*test.rbegin() == 30);
  CHECK(test.size() == 26);
  CHECK(task->sizes(s2s).length == 61);
  CHECK(task->sizes(s2s).output_length == 32);
  const auto other = make_task(task_config("addition", {{"digits", std::int64_t{4}}}));
  CHECK(other->fingerprint() != task->fingerprint());
}

TEST_CASE("addition as one sequence ends its sum, since sums differ in length", "[tasks][addition]") {
  const auto task = make_task(task_config("addition"));
  const TaskSizes sizes = task->sizes(lm);
  CHECK(sizes.vocabulary == 14); // digits + = and the two tokens around an output
  for (std::int64_t i = 0; i < 50; ++i) {
    const Sequence sequence = evaluation_sequence(*task, lm, Split::validation, i);
    CHECK(sequence.targets.back() == sizes.end);
    const std::string text = without_spaces(task->decode(sequence.tokens));
    const std::size_t plus = text.find('+'), equals = text.find('=');
    CHECK(std::to_string(std::stoll(text.substr(0, plus)) + std::stoll(text.substr(plus + 1))) ==
          text.substr(equals + 1));
    CHECK(std::count(sequence.targets.begin(), sequence.targets.end(), ignored) == static_cast<std::ptrdiff_t>(equals));
  }
}

TEST_CASE("addition: chance is a digit's share, far below sure", "[tasks][addition]") {
  const auto chance = make_task(task_config("addition"))->chance(s2s);
  CHECK(chance.accuracy > 0.1);
  CHECK(chance.accuracy < 0.4);
  CHECK_THAT(chance.how, Contains("the commonest output token"));
}

TEST_CASE("a test of symbols or bits may be longer than training", "[tasks]") {
  for (const std::string kind : {"copy", "reverse", "sort", "parity"}) {
    INFO(kind);
    const OptionValues lengths = {{"length", std::int64_t{8}}, {"min_length", std::int64_t{5}}};
    OptionValues longer = lengths;
    longer["test_length"] = std::int64_t{16};
    Config config = task_config(kind, longer);
    config.task.validation = config.task.test = 20; // few bit sequences exist
    const auto task = make_task(config);
    std::set<std::size_t> train, test;
    const auto check = [&](Split split, std::set<std::size_t>& seen) {
      for (const Pair& pair : pairs(*task, split)) {
        seen.insert(symbols(pair.input));
        std::string expected = without_spaces(pair.input);
        if (kind == "reverse") std::ranges::reverse(expected);
        if (kind == "sort") std::ranges::sort(expected);
        if (kind == "parity") expected = std::ranges::count(expected, '1') % 2 ? "1" : "0";
        CHECK(without_spaces(pair.output) == expected);
      }
    };
    check(Split::train, train);
    check(Split::validation, train);
    check(Split::test, test);
    CHECK(train == std::set<std::size_t>{5, 6, 7, 8});
    CHECK(*test.begin() >= 9);
    CHECK(*test.rbegin() <= 16);
    CHECK(test.size() > 3);
    const bool bits = kind == "parity";
    CHECK(task->sizes(lm).length == (bits ? 17 : 32));
    if (bits) {
      CHECK(task->sizes(TaskFormat::classification).length == 16);
      CHECK(task->sizes(TaskFormat::classification).varied);
    }
    // Training and validation have the sequences without it.
    config.task_options = lengths;
    const auto plain = make_task(config);
    CHECK(plain->fingerprint().find("test_length") ==
          (kind == "sort" ? plain->fingerprint().find("test_length = 0") : std::string::npos));
    for (std::int64_t i = 0; i < 20; ++i) {
      CHECK(training_sequence(*plain, lm, 3, i, 0) == training_sequence(*task, lm, 3, i, 0));
      CHECK(evaluation_sequence(*plain, lm, Split::validation, i) ==
            evaluation_sequence(*task, lm, Split::validation, i));
    }
  }
}

TEST_CASE("the shape of training's sequences is that of the task without its longer test", "[tasks][lengths]") {
  std::size_t tried = 0;
  for (const TaskInfo* info : task_kinds())
    for (const Option& option : info->about.options) {
      if (option.name != "test_length" && option.name != "test_digits") continue;
      INFO(info->about.name);
      const std::string& name = info->about.name; // expressions without brackets have an odd number of tokens
      const std::int64_t length = name == "listops" ? 200 : name == "modular_arithmetic" ? 61 : 60;
      const auto longer = make_task(task_config(name, {{option.name, length}}));
      const auto plain = make_task(task_config(name));
      const TaskFormat format = longer->refuses(s2s).empty() ? s2s : lm;
      CHECK(longer->training_sizes(format).length == plain->sizes(format).length);
      CHECK(longer->training_sizes(format).output_length == plain->sizes(format).output_length);
      CHECK(longer->sizes(format).length > plain->sizes(format).length);
      CHECK(plain->training_sizes(format).length == plain->sizes(format).length);
      ++tried;
    }
  CHECK(tried == 11);
}

TEST_CASE("lengths that can't be are refused", "[tasks]") {
  const auto message = [](const char* kind, OptionValues options) {
    return refusal([&] { make_task(task_config(kind, options)); });
  };
  CHECK_THAT(message("sort", {{"test_length", std::int64_t{8}}}),
             Contains("[task.sort] test_length = 8 is not above length = 8") && Contains("it may be 9 or more, or 0"));
  CHECK_THAT(message("addition", {{"test_digits", std::int64_t{3}}}),
             Contains("[task.addition] test_digits = 3 is not above digits = 3"));
  CHECK_THAT(message("addition", {{"min_digits", std::int64_t{4}}}),
             Contains("[task.addition] min_digits = 4 is above digits = 3; it may be 1 to 3"));
}

TEST_CASE("tasks that say so make sequences of any length, from the same words, and none of training's",
          "[tasks][lengths]") {
  std::size_t tried = 0;
  for (const TaskInfo* info : task_kinds()) {
    const bool says = std::ranges::count(info->about.uses, "train.evaluate_lengths") > 0;
    if (std::ranges::count(info->about.needs, "data.path") > 0) continue;
    INFO(info->about.name);
    const auto task = make_task(task_config(info->about.name));
    // Brackets come in pairs. Eight pairs of keys and values with their questions take 32 positions, as do 16 symbols
    // with their markers. An expression without brackets has an odd number of tokens.
    const std::string& name = info->about.name;
    const std::int64_t length = name == "mqar" || name == "selective_copy" ? 34 : name == "modular_arithmetic" ? 7 : 6;
    const Task* const shorter = task->of_length(length);
    CHECK((shorter != nullptr) == says);
    if (!shorter) continue;
    ++tried;
    CHECK(task->of_length(length) == shorter); // made once
    const Task* const longer = task->of_length(length + 2);
    REQUIRE(longer != nullptr);
    const TaskFormat format = task->refuses(s2s).empty() ? s2s : lm;
    CHECK(shorter->sizes(format).classes == task->sizes(format).classes);
    CHECK(longer->sizes(format).length > shorter->sizes(format).length);
    const auto sequences = pairs(*shorter, Split::validation, format);
    CHECK((!sequences.empty() && sequences.size() <= 512));
    std::set<std::string> trained;
    for (const Pair& pair : pairs(*shorter, Split::train, format)) trained.insert(pair.input);
    std::size_t longest = 0;
    for (const Pair& pair : sequences) {
      CHECK_FALSE(trained.contains(pair.input));
      longest = std::max(longest, symbols(pair.input));
    }
    // The last bracket and the last value of a sequence are only targets.
    const bool shorter_by_one = name == "dyck" || name == "noisy_recall";
    CHECK(longest >= static_cast<std::size_t>(length - (shorter_by_one ? 1 : 0)));
  }
  CHECK(tried == 15);
}

TEST_CASE("sequences of a length: repeats, brackets, questions and expressions", "[tasks][lengths]") {
  const auto of = [](const char* kind, OptionValues options, std::int64_t length) {
    const auto task = make_task(task_config(kind, std::move(options)));
    return pairs(*task->of_length(length), Split::validation, task->refuses(s2s).empty() ? s2s : lm);
  };
  // Each sequence is a sequence followed by the same sequence, without its last symbol.
  for (const Pair& pair : of("induction", {{"min_length", std::int64_t{8}}}, 20)) CHECK(words(pair.input) == 39);
  // Three pairs of brackets are at most three deep; the training sequences' are at most four deep.
  for (const std::int64_t length : {6, 48})
    for (const Pair& pair : of("dyck", {}, length)) CHECK(words(pair.input) == static_cast<std::size_t>(length - 1));
  for (const Pair& pair : of("mqar", {{"pairs", std::int64_t{4}}}, 128)) CHECK(words(pair.input) == 128);
  // Longer sequences have as many pairs as training's, or as many symbols.
  const auto varied = make_task(task_config("mqar", {{"min_pairs", std::int64_t{4}}, {"updates", std::int64_t{2}}}));
  std::set<std::ptrdiff_t> numbers_of_keys;
  for (const Sequence& sequence : evaluation_sequences(*varied->of_length(512), lm, Split::test)) {
    CHECK(sequence.tokens.size() == 512);
    numbers_of_keys.insert(512 - std::ranges::count(sequence.targets, ignored));
  }
  CHECK(numbers_of_keys == std::set<std::ptrdiff_t>{4, 5, 6, 7, 8});
  for (const Pair& pair : of("selective_copy", {{"copied", std::int64_t{5}}}, 512))
    CHECK((words(pair.input) == 512 && std::ranges::count(pair.input, '.') == 502));
  for (const Pair& pair : of("noisy_recall", {}, 512)) CHECK(words(pair.input) == 511);
  // Expressions have at least nine tenths of the length.
  std::set<std::size_t> lengths;
  for (const Pair& pair : of("listops", {}, 40)) lengths.insert(words(pair.input));
  CHECK((*lengths.begin() == 36 && *lengths.rbegin() == 40));
  CHECK(lengths.size() == 5);

  CHECK_THAT(refusal([&] { of("dyck", {}, 7); }), Contains("[task.dyck] length = 7 is odd"));
  CHECK_THAT(refusal([&] { of("mqar", {}, 30); }), Contains("[task.mqar] length = 30 is too short for pairs = 8"));
  CHECK_THAT(refusal([&] { of("selective_copy", {}, 31); }),
             Contains("[task.selective_copy] length = 31 is too short for copied = 16"));
  CHECK_THAT(refusal([&] { of("noisy_recall", {}, 7); }), Contains("[task.noisy_recall] length = 7 is odd"));
  CHECK_THAT(refusal([&] { of("induction", {}, 65); }), Contains("[task.induction] symbols = 64 is below length = 65"));
  CHECK_THAT(refusal([&] { of("listops", {}, 3); }), Contains("task.listops.length is 3"));
}

TEST_CASE("a symbol of every sequence stands at every place of the length", "[tasks][lengths]") {
  const auto task = make_task(task_config("copy", {{"length", std::int64_t{5}}, {"min_length", std::int64_t{2}}}));
  for (const std::int64_t length : {5, 12})
    for (const Pair& pair : pairs(*task->of_length(length), Split::validation)) {
      CHECK(symbols(pair.input) == static_cast<std::size_t>(length));
      CHECK(pair.output == pair.input);
    }
  const auto sums = make_task(task_config("addition"));
  for (const Pair& pair : pairs(*sums->of_length(5), Split::test)) {
    const auto [a, b] = operands(pair);
    CHECK(std::max(a.size(), b.size()) == 5);
  }
}
