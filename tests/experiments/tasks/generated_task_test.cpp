// Tests of the generated tasks: the definition of an example, in each form.
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/tasks/generated_support.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

std::vector<TaskFormat> forms_of(const Task& task) {
  std::vector<TaskFormat> formats = {TaskFormat::language_model};
  if (task.refuses(TaskFormat::classification).empty()) formats.push_back(TaskFormat::classification);
  return formats;
}

/// The result of x and y modulo 97; a quotient is found by trying all numbers.
int modular_answer(int x, const std::string& operation, int y) {
  constexpr int p = 97;
  if (operation == "/" || (operation == "/-" && y % 2 == 1)) {
    int z = 0;
    while (z * y % p != x) ++z;
    return z;
  }
  if (operation == "-" || operation == "/-") return (x - y + p) % p;
  if (operation == "*") return x * y % p;
  if (operation == "x^2+y^2") return (x * x + y * y) % p;
  if (operation == "x^2+xy+y^2") return (x * x + x * y + y * y) % p;
  if (operation == "x^2+xy+y^2+x") return (x * x + x * y + y * y + x) % p;
  if (operation == "x^3+xy") return (x * x * x + x * y) % p;
  if (operation == "x^3+xy^2+y") return (x * x * x + x * y * y + y) % p;
  REQUIRE(operation == "+");
  return (x + y) % p;
}

/// The value of the expression that begins at `at`. Moves `at` to the expression's end.
int value_of(const std::vector<std::string>& words, std::size_t& at) {
  const std::string operation = words.at(at++);
  if (operation.front() != '[') return std::stoi(operation);
  std::vector<int> values;
  while (words.at(at) != "]") values.push_back(value_of(words, at));
  ++at;
  REQUIRE(values.size() >= 2);
  std::ranges::sort(values);
  if (operation == "[MIN") return values.front();
  if (operation == "[MAX") return values.back();
  if (operation == "[SM") return std::accumulate(values.begin(), values.end(), 0) % 10;
  REQUIRE(operation == "[MED");
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/// The answer to a prompt, both as words, computed again from the task's definition.
std::string answer(const std::string& kind, std::vector<std::string> prompt) {
  if (kind == "recall") {
    const std::string key = prompt.back();
    REQUIRE(prompt[prompt.size() - 2] == "?");
    return *std::next(std::ranges::find(prompt, key));
  }
  const bool value = kind == "parity" || kind == "listops" || kind.starts_with("modular_");
  REQUIRE(prompt.back() == (value ? "=" : "|"));
  prompt.pop_back();
  if (kind == "listops") {
    std::size_t at = 0;
    const int value = value_of(prompt, at);
    REQUIRE(at == prompt.size());
    return std::to_string(value);
  }
  if (kind == "modular_arithmetic") return std::to_string(expression_value(prompt, 5));
  if (kind == "parity") return std::ranges::count(prompt, "1") % 2 ? "1" : "0";
  if (kind == "modular_addition") {
    REQUIRE(prompt.size() == 3);
    return std::to_string(modular_answer(std::stoi(prompt[0]), prompt[1], std::stoi(prompt[2])));
  }
  if (kind == "reverse") std::ranges::reverse(prompt);
  if (kind == "sort") std::ranges::sort(prompt, {}, [](const std::string& word) { return std::stoi(word); });
  return joined(prompt);
}

void check_sequence(const Task& task, const std::string& kind, const Sequence& sequence) {
  const std::vector<std::string> prompt = prompt_of(task, sequence);
  const std::size_t first = prompt.size() - 1;
  CHECK(std::all_of(sequence.targets.begin(), sequence.targets.begin() + static_cast<std::ptrdiff_t>(first),
                    [](std::int32_t target) { return target == ignored; }));
  CHECK(task.decode(std::span(sequence.targets).subspan(first)) == answer(kind, prompt));
  for (std::size_t i = first; i + 1 < sequence.tokens.size(); ++i) CHECK(sequence.tokens[i + 1] == sequence.targets[i]);
}

} // namespace

TEST_CASE("every sequence holds an example and its right answer", "[tasks]") {
  for (const Config& config : generated_configs()) {
    INFO(config.task.kind);
    const auto task = make_task(config);
    for (const Split split : all_splits)
      for (const Sequence& sequence : evaluation_sequences(*task, TaskFormat::language_model, split))
        check_sequence(*task, config.task.kind, sequence);
    for (std::int64_t i = 0; i < 200; ++i)
      check_sequence(*task, config.task.kind, training_sequence(*task, TaskFormat::language_model, 3, i / 8, i % 8));
  }
}

TEST_CASE("an example in its shortest words", "[tasks]") {
  Config config = task_config("recall", whole_numbers({{"pairs", 2}, {"keys", 4}, {"values", 4}}));
  const auto recall = make_task(config);
  const Sequence sequence = evaluation_sequence(*recall, TaskFormat::language_model, Split::validation, 0);
  const auto words = words_of(recall->decode(sequence.tokens));
  REQUIRE(words.size() == 6);
  const std::string starts = "kvkv?k";
  for (std::size_t i = 0; i < 6; ++i) CHECK(words[i].front() == starts[i]);
  CHECK(words[0] != words[2]);
  CHECK((words[5] == words[0] || words[5] == words[2]));
}

TEST_CASE("sequence to sequence: the same examples, with the output read one place late and ended", "[tasks]") {
  for (const Config& config : generated_configs()) {
    INFO(config.task.kind);
    const auto task = make_task(config);
    REQUIRE(task->refuses(s2s).empty());
    const TaskSizes sizes = task->sizes(s2s);
    const TaskSizes words = task->sizes(TaskFormat::language_model);
    CHECK(sizes.vocabulary == words.vocabulary + 2);
    CHECK(sizes.classes == sizes.vocabulary);
    CHECK(sizes.shared_vocabulary);
    CHECK(std::set<std::int64_t>{sizes.begin, sizes.end} ==
          std::set<std::int64_t>{words.vocabulary, words.vocabulary + 1});
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i < task->evaluation_sequences(s2s, Split::validation); ++i) {
      Batch batch;
      batch.reset(1, sizes, s2s);
      task->evaluation_sequence(s2s, Split::validation, i, batch, 0);
      batch.trim();
      longest = std::max(longest, batch.output_length);
      REQUIRE(batch.output_lengths[0] == batch.output_length);
      CHECK(batch.outputs.front() == sizes.begin);
      CHECK(batch.targets.back() == sizes.end);
      CHECK(std::equal(batch.outputs.begin() + 1, batch.outputs.end(), batch.targets.begin()));
      auto prompt = prompt_of(*task, evaluation_sequence(*task, TaskFormat::language_model, Split::validation, i));
      CHECK(task->decode_output(s2s, batch.targets) == answer(config.task.kind, prompt));
      CHECK(task->decode_output(s2s, batch.outputs) == answer(config.task.kind, prompt));
      if (prompt.back() == "|" || prompt.back() == "=") prompt.pop_back();
      CHECK(task->decode(batch.tokens) == joined(prompt));
    }
    CHECK(longest == sizes.output_length);
  }
}

TEST_CASE("a classifier sees the same examples, with the answer as its label", "[tasks]") {
  for (const Config& config : generated_configs()) {
    const auto task = make_task(config);
    if (!task->refuses(TaskFormat::classification).empty()) continue;
    INFO(config.task.kind);
    const TaskSizes sizes = task->sizes(TaskFormat::classification);
    std::set<std::int32_t> labels;
    for (std::int64_t i = 0; i < task->evaluation_sequences(TaskFormat::classification, Split::validation); ++i) {
      const Sequence label = evaluation_sequence(*task, TaskFormat::classification, Split::validation, i);
      const Sequence model = evaluation_sequence(*task, TaskFormat::language_model, Split::validation, i);
      auto prompt = prompt_of(*task, model);
      const auto answer_word = words_of(answer(config.task.kind, prompt)).at(0);
      if (prompt.back() == "=") prompt.pop_back();
      CHECK(task->decode(label.tokens) == joined(prompt));
      REQUIRE(label.targets.size() == 1);
      CHECK((label.targets[0] >= 0 && label.targets[0] < sizes.classes));
      labels.insert(label.targets[0]);
      // Labels number the answer words from the first: v3 is 3, 1 is 1.
      const auto digits = answer_word.find_first_of("0123456789");
      CHECK(std::to_string(label.targets[0]) == answer_word.substr(digits));
    }
    CHECK(static_cast<std::int64_t>(labels.size()) > sizes.classes / 2);
    CHECK(training_sequence(*task, TaskFormat::classification, 1, 2, 3).targets[0] ==
          training_sequence(*task, TaskFormat::language_model, 1, 2, 3).targets.back() -
              (config.task.kind == "recall" ? task->encode("v0")[0] : 0));
  }
}

TEST_CASE("listops has expressions within its bounds", "[tasks][listops]") {
  struct Case {
    int length, min_length, depth, arguments;
  };
  for (const Case& c : {Case{64, 4, 5, 5}, Case{30, 12, 2, 7}, Case{12, 4, 9, 2}}) {
    const auto task = make_task(task_config("listops", whole_numbers({{"length", c.length},
                                                                      {"min_length", c.min_length},
                                                                      {"depth", c.depth},
                                                                      {"arguments", c.arguments}})));
    int deepest = 0, most = 0;
    std::size_t shortest = 1000, longest = 0;
    std::set<std::string> seen;
    for (std::int64_t i = 0; i < 1000; ++i) {
      const auto words = words_of(task->decode(training_sequence(*task, TaskFormat::classification, 0, i, 0).tokens));
      shortest = std::min(shortest, words.size());
      longest = std::max(longest, words.size());
      std::vector<int> counts{0};
      for (const std::string& word : words) {
        seen.insert(word);
        if (word == "]") {
          most = std::max(most, counts.back());
          CHECK(counts.back() >= 2);
          counts.pop_back();
          continue;
        }
        ++counts.back();
        if (word.front() == '[') counts.push_back(0);
        deepest = std::max(deepest, static_cast<int>(counts.size()) - 1);
      }
      CHECK(counts == std::vector<int>{1});
    }
    CHECK(seen.size() == 15);
    CHECK(task->sizes(TaskFormat::classification).varied);
    CHECK(task->sizes(TaskFormat::language_model).varied);
    CHECK(shortest >= static_cast<std::size_t>(c.min_length));
    CHECK(longest <= static_cast<std::size_t>(c.length));
    CHECK(most == c.arguments);
    // [MIN 1 [MIN 1 2 ] ] is the shortest expression of its depth
    CHECK(deepest == std::min(c.depth, (c.length - 1) / 3));
  }
}

TEST_CASE("listops counts its expressions, and says what can't be", "[tasks][listops]") {
  const auto about = [](OptionValues options) {
    return make_task(task_config("listops", std::move(options)))->facts().notes.front();
  };
  // 4 operations on two digits; on three digits; on a digit and an operation on two, in either order; on two such
  // operations.
  CHECK_THAT(about(whole_numbers({{"length", 4}})), Contains("about 400 "));
  CHECK_THAT(about(whole_numbers({{"length", 5}})), Contains("about 4.4e+03 "));
  CHECK_THAT(about(whole_numbers({{"length", 7}, {"min_length", 7}, {"arguments", 2}})), Contains("about 3.2e+04 "));
  CHECK_THAT(about(whole_numbers({{"length", 10}, {"min_length", 10}, {"arguments", 2}, {"depth", 2}})),
             Contains("about 6.4e+05 "));
  const auto message = [](OptionValues options) {
    return refusal([&] { make_task(task_config("listops", std::move(options))); });
  };
  CHECK(message(whole_numbers({{"length", 8}, {"min_length", 9}})) ==
        "[task.listops] min_length = 9 is above length = 8; it may be 4 to 8");
  CHECK(message(whole_numbers({{"length", 60}, {"min_length", 50}, {"depth", 1}})) ==
        "[task.listops] none of 2000 expressions with depth = 1, arguments = 5 and nested = 0.25 had 50 to 60 tokens, "
        "the range of min_length and length; widen this range, or change depth, arguments or nested");
  CHECK_THAT(message(whole_numbers({{"depth", 2}, {"test_length", 200}, {"arguments", 3}})),
             Contains("had 65 to 200 tokens, the range of length and test_length"));
}

TEST_CASE("operations modulo a prime are what they say", "[tasks][modular]") {
  const auto operations = std::ranges::find(task_info("modular_addition").about.options, "operation", &Option::name);
  REQUIRE(operations->words.size() == 10);
  for (const std::string& operation : operations->words) {
    INFO(operation);
    Config config = task_config("modular_addition", {{"operation", operation}});
    const auto task = make_task(config);
    std::set<std::string> seen;
    for (std::int64_t i = 0; i < 300; ++i) {
      const Sequence sequence = training_sequence(*task, TaskFormat::language_model, 0, i, 0);
      seen.insert(words_of(task->decode(sequence.tokens)).at(1));
      check_sequence(*task, "modular_addition", sequence);
    }
    CHECK(seen == std::set<std::string>{operation});
    // Chance accuracy, over all pairs.
    std::map<int, int> counts;
    int all = 0;
    for (int x = 0; x < 97; ++x)
      for (int y = operation == "/" ? 1 : 0; y < 97; ++y, ++all) ++counts[modular_answer(x, operation, y)];
    double loss = 0;
    for (const auto& [answer, count] : counts) loss -= count * std::log(count / double(all)) / all;
    const int most = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->second;
    const Task::Chance chance = task->chance(TaskFormat::classification);
    CHECK(chance.accuracy == Approx(most / double(all)));
    CHECK(chance.sequence->value == chance.accuracy);
    CHECK(chance.loss->value == Approx(loss));
    CHECK(task->chance(TaskFormat::sequence_to_sequence).loss->value == Approx(loss / 2));
  }
}

TEST_CASE("operations and training parts that can't be are refused", "[tasks][modular]") {
  const auto message = [](OptionValues options) {
    return refusal([&] { make_task(task_config("modular_addition", std::move(options))); });
  };
  CHECK(message({{"modulus", std::int64_t{96}}, {"operation", std::string("/")}}) ==
        "[task.modular_addition] modulus = 96 is not prime, but operation = \"/\" divides by every number except 0, "
        "which needs a prime; the nearest primes are 89 and 97");
  CHECK(message({{"modulus", std::int64_t{96}}, {"operation", std::string("*")}}) == "(not refused)");
  CHECK_THAT(message({{"modulus", std::int64_t{1025}}, {"operation", std::string("*")}}),
             Contains("modulus = 1025 is above 1024") && Contains("take another operation"));
  CHECK_THAT(message({{"modulus", std::int64_t{1025}}, {"train", 0.5}}),
             Contains("modulus = 1025 is above 1024") && Contains("set train to 0"));
  CHECK(message({{"modulus", std::int64_t{1025}}}) == "(not refused)");
  CHECK(message({{"modulus", std::int64_t{7}}, {"train", 0.8}}) ==
        "[task.modular_addition] train = 0.8 leaves 39 of the 49 examples for training and 10 for validation, and each "
        "needs 16; take another share, or raise task.modular_addition.modulus");
}

TEST_CASE("a sequence depends on seed, step and index alone, not on what was asked before or where it is put",
          "[tasks]") {
  for (const Config& config : generated_configs()) {
    INFO(config.task.kind);
    const auto task = make_task(config), again = make_task(config);
    for (const TaskFormat format : forms_of(*task)) {
      Batch forwards, backwards;
      forwards.reset(8, task->sizes(format).length, format);
      backwards.reset(8, task->sizes(format).length + 3, format);
      for (std::int64_t sequence = 0; sequence < 8; ++sequence)
        task->training_sequence(format, 5, 11, sequence, forwards, sequence);
      for (std::int64_t sequence = 7; sequence >= 0; --sequence) {
        again->training_sequence(format, 99, 4, sequence, backwards, 7 - sequence);
        backwards.reset(8, backwards.length, format);
        again->training_sequence(format, 5, 11, sequence, backwards, 7 - sequence);
        CHECK(sequence_of(forwards, format, sequence) == sequence_of(backwards, format, 7 - sequence));
      }
      for (const Split split : all_splits)
        for (std::int64_t sequence : {2, 1, 0, 1})
          if (task->evaluation_sequences(format, split) > 0)
            CHECK(evaluation_sequence(*task, format, split, sequence) ==
                  evaluation_sequence(*again, format, split, sequence));
    }
  }
}

TEST_CASE("seed, step and index each change a training sequence", "[tasks]") {
  const auto task = make_task(task_config("copy"));
  std::set<Tokens> sequences;
  for (const std::uint64_t seed : {0U, 1U})
    for (std::int64_t step : {0, 1})
      for (std::int64_t sequence : {0, 1})
        sequences.insert(training_sequence(*task, TaskFormat::language_model, seed, step, sequence).tokens);
  CHECK(sequences.size() == 8);
}

TEST_CASE("shorter sequences are padded with token 0 and ignored targets, and every length occurs", "[tasks]") {
  const auto task = make_task(task_config("copy", whole_numbers({{"length", 6}, {"min_length", 3}, {"symbols", 5}})));
  const TaskSizes sizes = task->sizes(TaskFormat::language_model);
  CHECK(sizes.length == 12); // six symbols, a separator, and six outputs; the last output is only a target
  CHECK(sizes.vocabulary == 6);
  CHECK(sizes.classes == 6);
  Batch batch;
  constexpr std::int64_t sequences = 200;
  batch.reset(sequences, sizes.length, TaskFormat::language_model);
  for (std::int64_t sequence = 0; sequence < sequences; ++sequence)
    task->training_sequence(TaskFormat::language_model, 0, 0, sequence, batch, sequence);
  std::set<std::int32_t> lengths;
  for (std::int64_t sequence = 0; sequence < sequences; ++sequence) {
    const std::int32_t length = batch.lengths[static_cast<std::size_t>(sequence)];
    lengths.insert(length);
    for (std::int64_t i = length; i < sizes.length; ++i) {
      CHECK(batch.tokens[static_cast<std::size_t>(sequence * sizes.length + i)] == 0);
      CHECK(batch.targets[static_cast<std::size_t>(sequence * sizes.length + i)] == ignored);
    }
  }
  CHECK(lengths == std::set<std::int32_t>{6, 8, 10, 12});
}

TEST_CASE("the shape is that of the longest sequence and of the tokens", "[tasks]") {
  const auto shape = [](const char* kind, OptionValues options, TaskFormat format) {
    const TaskSizes s = make_task(task_config(kind, std::move(options)))->sizes(format);
    return std::vector<std::int64_t>{s.vocabulary, s.length, s.classes};
  };
  const OptionValues recall = whole_numbers({{"pairs", 3}, {"keys", 4}, {"values", 5}});
  CHECK(shape("recall", recall, TaskFormat::language_model) == std::vector<std::int64_t>{10, 8, 10});
  CHECK(shape("recall", recall, TaskFormat::classification) == std::vector<std::int64_t>{10, 8, 5});
  CHECK(shape("parity", whole_numbers({{"length", 10}}), TaskFormat::language_model) ==
        std::vector<std::int64_t>{3, 11, 3});
  CHECK(shape("parity", whole_numbers({{"length", 10}}), TaskFormat::classification) ==
        std::vector<std::int64_t>{3, 10, 2});
  CHECK(shape("modular_addition", {}, TaskFormat::language_model) == std::vector<std::int64_t>{99, 4, 99});
  CHECK(shape("modular_addition", {}, TaskFormat::classification) == std::vector<std::int64_t>{99, 3, 97});
}

TEST_CASE("a sequence has no label, and the refusal says what has", "[tasks]") {
  for (const char* kind : {"copy", "reverse", "sort"})
    CHECK(make_task(task_config(kind))->refuses(TaskFormat::classification) ==
          "the output of the task " + std::string(kind) +
              " is a sequence, but a classifier gives one label for a sequence; use a language model (model.kind = "
              "\"decoder\"), or a task with one label: recall, parity, modular_addition, modular_arithmetic, listops");
  for (const Config& config : generated_configs())
    CHECK(make_task(config)->refuses(TaskFormat::language_model).empty());
}

TEST_CASE("options that do not fit are refused by name", "[tasks]") {
  CHECK(refusal([] {
          make_task(task_config("sort", whole_numbers({{"length", 4}, {"min_length", 5}})));
        }) == "[task.sort] min_length = 5 is above length = 4; it may be 1 to 4, or 0 (all inputs have the length)");
  CHECK(refusal([] {
          make_task(task_config("recall", whole_numbers({{"pairs", 5}, {"keys", 4}})));
        }) == "[task.recall] pairs = 5 is above keys = 4, but an example has no key twice; lower pairs or raise keys");
}

TEST_CASE("words become tokens and tokens words", "[tasks]") {
  for (const Config& config : generated_configs()) {
    const auto task = make_task(config);
    Tokens all(static_cast<std::size_t>(task->sizes(TaskFormat::language_model).vocabulary));
    std::iota(all.begin(), all.end(), 0);
    CHECK(task->encode(task->decode(all)) == all);
  }
  const auto task = make_task(task_config("copy"));
  CHECK(task->decode(Tokens{3, 1, 4, 8}) == "3 1 4 |");
  CHECK(task->encode(" 3\t1\n4  | ") == Tokens{3, 1, 4, 8});
  CHECK(task->encode(" ").empty());
  CHECK(refusal([&] { (void)task->encode("3 9"); }) ==
        "\"9\" is not a word of the task copy; its words, separated by spaces, are: 0 1 2 3 4 5 6 7 |");
  const auto many = make_task(task_config("modular_addition"));
  CHECK(refusal([&] { (void)many->encode("97"); }) ==
        "\"97\" is not a word of the task modular_addition; its words, separated by spaces, are: 0 1 2 3 4 5 6 7 8 9 "
        "10 11 ... + =");
  CHECK(failure([&] { (void)task->decode(Tokens{9}); }) == "[task.copy] token 9 does not exist: there are 9");
  CHECK(failure([&] { (void)task->decode(Tokens{-1}); }) == "[task.copy] token -1 does not exist: there are 9");
}

TEST_CASE("a sequence that does not fit into the batch fails rather than writes beside it", "[tasks]") {
  const auto task = make_task(task_config("copy"));
  Batch batch;
  batch.reset(2, 15, TaskFormat::language_model);
  CHECK(failure([&] { task->training_sequence(TaskFormat::language_model, 0, 0, 0, batch, 0); }) ==
        "[task.copy] an example of 16 tokens does not fit as sequence 0 of a batch [2, 15]");
  batch.reset(2, 16, TaskFormat::language_model);
  CHECK(failure([&] { task->training_sequence(TaskFormat::language_model, 0, 0, 0, batch, 2); }) ==
        "[task.copy] an example of 16 tokens does not fit as sequence 2 of a batch [2, 16]");
}

TEST_CASE("the fingerprint changes with what changes the examples", "[tasks]") {
  const auto fingerprint = [](const Config& config) { return make_task(config)->fingerprint(); };
  const Config copy = task_config("copy");
  CHECK(fingerprint(copy) == "copy 1: default options; seed = 0, validation = 512, test = 512");
  CHECK(fingerprint(task_config("copy", whole_numbers({{"length", 9}, {"symbols", 8}}))) ==
        "copy 1: length = 9; seed = 0, validation = 512, test = 512");
  std::set<std::string> seen = {fingerprint(copy), fingerprint(task_config("reverse"))};
  for (const char* option : {"length", "min_length", "symbols"})
    seen.insert(fingerprint(task_config("copy", whole_numbers({{option, 7}}))));
  Config other = copy;
  other.task.seed = 1;
  seen.insert(fingerprint(other));
  other.task.validation = 100;
  seen.insert(fingerprint(other));
  other.task.test = 100;
  seen.insert(fingerprint(other));
  CHECK(seen.size() == 8);
  CHECK(fingerprint(task_config("copy")) == fingerprint(copy));
}

TEST_CASE("lengths and symbols of generated inputs are evenly spread", "[tasks]") {
  RandomSource random({1, Stream::test, 0});
  std::vector<std::int32_t> input;
  std::map<std::size_t, int> lengths;
  std::map<std::int32_t, int> symbols;
  for (int i = 0; i < 30000; ++i) {
    draw_symbols(random, {2, 4}, 3, input);
    ++lengths[input.size()];
    for (const std::int32_t symbol : input) ++symbols[symbol];
  }
  REQUIRE(lengths.size() == 3);
  for (const auto& [length, count] : lengths) {
    CHECK((length >= 2 && length <= 4));
    CHECK(std::abs(count - 10000) < 5 * std::sqrt(30000 * 2 / 9.0));
  }
  REQUIRE(symbols.size() == 3);
  for (const auto& [symbol, count] : symbols) {
    CHECK((symbol >= 0 && symbol < 3));
    CHECK(std::abs(count - 30000) < 5 * std::sqrt(90000 * 2 / 9.0));
  }
  CHECK(count_inputs({2, 4}, 3) == 9 + 27 + 81);
}
