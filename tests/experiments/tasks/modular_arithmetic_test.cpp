// The task of modular arithmetic: a calculator checks each expression, and an enumeration of all expressions gives the
// accuracy of guessing.
#include "tests/catch.hpp"
#include "tests/experiments/tasks/generated_support.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace heed;
using namespace heed::test;
using Catch::Contains;

namespace {

constexpr TaskFormat classes = TaskFormat::classification;

OptionValues options(int length, int min_length, int modulus, const std::string& operators, bool brackets) {
  OptionValues out = whole_numbers({{"length", length}, {"min_length", min_length}, {"modulus", modulus}});
  out["operators"] = operators;
  out["brackets"] = brackets;
  return out;
}

// Each expression of a length with the probability that it is drawn.
std::map<std::string, double> expressions(int length, int modulus, const std::string& operators, bool brackets) {
  std::map<std::string, double> out;
  if (length == 1)
    for (int x = 0; x < modulus; ++x) out[std::to_string(x)] = 1.0 / modulus;
  else if (!brackets) {
    for (const auto& [before, p] : expressions(length - 2, modulus, operators, false))
      for (const char o : operators)
        for (int x = 0; x < modulus; ++x)
          out[before + " " + o + " " + std::to_string(x)] = p / modulus / static_cast<double>(operators.size());
  } else if (length <= 4) {
    for (int x = 0; x < modulus; ++x)
      out[(length == 2   ? "- "
           : length == 3 ? "( "
                         : "( - ") +
          std::to_string(x) + (length > 2 ? " )" : "")] = 1.0 / modulus;
  } else {
    const bool minus = operators.find('-') != operators.npos;
    std::vector<int> lefts;
    for (int left = 1; left <= length - 4; ++left)
      if (minus || left % 2 == 1) lefts.push_back(left);
    for (const int left : lefts)
      for (const auto& [a, p] : expressions(left, modulus, operators, true))
        for (const auto& [b, q] : expressions(length - 3 - left, modulus, operators, true))
          for (const char o : operators)
            out["( " + a + " " + o + " " + b + " )"] += p * q / static_cast<double>(lefts.size() * operators.size());
  }
  return out;
}

} // namespace

TEST_CASE("expressions modulo m have their values, and every length", "[tasks][arithmetic]") {
  struct Case {
    int length, min_length, modulus;
    const char* operators;
    bool brackets;
  };
  for (const Case& c : {Case{39, 3, 5, "+-*", false},
                        {39, 3, 5, "+-", true},
                        {40, 1, 5, "+-*", true},
                        {41, 0, 7, "-*", true},
                        {21, 9, 12, "+*", true},
                        {21, 9, 12, "*", false},
                        {301, 0, 256, "+-*", false},
                        {300, 200, 256, "+-*", true},
                        {9, 1, 5, "-", true},
                        {17, 0, 2, "+", false}}) {
    INFO(c.operators << " modulo " << c.modulus << (c.brackets ? " with brackets" : ""));
    Config config = task_config("modular_arithmetic",
                                options(c.length, c.min_length, c.modulus, c.operators, c.brackets));
    config.task.validation = config.task.test = 48;
    const auto task = make_task(config);
    CHECK(task->sizes(classes).classes == c.modulus);
    CHECK(task->sizes(classes).length == c.length);
    CHECK(task->sizes(lm).length == c.length + 1);
    std::set<std::size_t> lengths;
    std::set<std::string> seen;
    const auto check_expression = [&](const Sequence& sequence) {
      const auto words = words_of(task->decode(sequence.tokens));
      INFO(joined(words));
      lengths.insert(words.size());
      seen.insert(words.begin(), words.end());
      CHECK(sequence.targets[0] == expression_value(words, c.modulus));
      // With brackets, every operation has them, so the order of operations does not matter.
      if (c.brackets && words.size() > 2) {
        std::size_t operations = 0;
        for (std::size_t i = 1; i < words.size(); ++i)
          if (std::string("+-*").find(words[i]) != std::string::npos && words[i - 1] != "(" &&
              std::string("+-*").find(words[i - 1]) == std::string::npos)
            ++operations;
        const auto opened = static_cast<std::size_t>(std::ranges::count(words, "("));
        CHECK(opened >= operations);
        CHECK(words.front() == "(");
      }
    };
    for (const Split split : all_splits)
      for (const Sequence& sequence : evaluation_sequences(*task, classes, split)) check_expression(sequence);
    for (std::int64_t i = 0; i < 1500; ++i) check_expression(training_sequence(*task, classes, 4, i, 0));
    const bool odd = !c.brackets || std::string(c.operators).find('-') == std::string::npos;
    std::set<std::size_t> expected;
    for (int n = c.min_length == 0 ? c.length : c.min_length; n <= c.length; n += odd ? 2 : 1)
      expected.insert(static_cast<std::size_t>(n));
    CHECK(lengths == expected);
    // Every word but "=".
    if (c.length > 4) CHECK(std::ssize(seen) == task->sizes(classes).vocabulary - 1);
  }
}

TEST_CASE("products are calculated before sums and differences, from left to right", "[tasks][arithmetic]") {
  // The examples of the benchmark's documentation.
  CHECK(expression_value(words_of("1 + 2 * 3"), 5) == 2);
  CHECK(expression_value(words_of("1 - 1 - 1"), 5) == 4);
  CHECK(expression_value(words_of("0 * 1 + 4 * 3 - 2"), 5) == 0);
  CHECK(expression_value(words_of("( ( 4 - 1 ) * ( - 3 ) )"), 5) == 1);
  const auto task = make_task(task_config("modular_arithmetic", options(5, 5, 7, "+-*", false)));
  std::map<std::string, std::int32_t> values;
  for (std::int64_t i = 0; i < 60000; ++i) {
    const Sequence sequence = training_sequence(*task, classes, 0, i, 0);
    values[task->decode(sequence.tokens)] = sequence.targets[0];
  }
  for (const auto& [text, value] : {std::pair<const char*, int>{"2 + 3 * 4", 0},
                                    {"2 - 3 - 4", 2},
                                    {"5 - 3 * 4", 0},
                                    {"2 * 3 - 4", 2},
                                    {"6 * 6 * 6", 6},
                                    {"1 - 6 + 2", 4}})
    if (values.contains(text)) CHECK(values.at(text) == value);
  CHECK(values.size() > 2000); // of 3,087, 8 in 10 are for training
}

TEST_CASE("all expressions modulo m are counted, and chance is that of their values", "[tasks][arithmetic]") {
  struct Case {
    int length, min_length, modulus;
    const char* operators;
    bool brackets;
  };
  for (const Case& c : {Case{5, 1, 5, "+-*", false},
                        {7, 3, 4, "*", false},
                        {5, 5, 6, "+*", false},
                        {9, 9, 2, "-*", false},
                        {5, 5, 12, "-*", false},
                        {9, 1, 3, "+-*", true},
                        {9, 5, 4, "*", true},
                        {9, 9, 6, "+*", true},
                        {9, 3, 3, "-*", true},
                        {13, 13, 2, "+*", true},
                        {8, 5, 6, "+-", true},
                        {5, 3, 6, "+", false}}) {
    INFO(c.operators << " modulo " << c.modulus << (c.brackets ? " with brackets" : "") << ", length " << c.length);
    Config config = task_config("modular_arithmetic",
                                options(c.length, c.min_length, c.modulus, c.operators, c.brackets));
    config.task.validation = config.task.test = 16;
    const auto task = make_task(config);
    const bool odd = !c.brackets || std::string(c.operators).find('-') == std::string::npos;
    std::map<std::string, double> all;
    double lengths = 0;
    for (int n = c.min_length; n <= c.length; n += odd ? 2 : 1, ++lengths)
      all.merge(expressions(n, c.modulus, c.operators, c.brackets));
    CHECK_THAT(task->facts().notes.front(), Contains(fmt::format("about {:.3g} ", double(all.size()))));
    std::map<long, double> shares;
    for (const auto& [text, p] : all) shares[expression_value(words_of(text), c.modulus)] += p / lengths;
    double loss = 0, best = 0;
    for (const auto& [value, p] : shares) {
      loss -= p * std::log(p);
      best = std::max(best, p);
    }
    const Task::Chance chance = task->chance(classes);
    CHECK(chance.accuracy == Approx(best));
    CHECK(chance.sequence->value == Approx(best));
    CHECK(chance.loss->value == Approx(loss));
    CHECK(task->chance(s2s).loss->value == Approx(loss / 2));
    const bool products = std::string(c.operators).find('*') != std::string::npos;
    CHECK(chance.how == (products ? "always 0, the commonest answer" : "1 / modulus"));
    // Training draws each of its expressions as often as the others of its probability.
    std::map<std::string, int> drawn;
    constexpr int draws = 20000;
    for (std::int64_t i = 0; i < draws; ++i) ++drawn[task->decode(training_sequence(*task, classes, 3, i, 0).tokens)];
    double of_split = 0;
    for (const auto& [text, count] : drawn) {
      REQUIRE(all.contains(text));
      of_split += all.at(text) / lengths;
    }
    for (const auto& [text, count] : drawn) {
      const double expected = draws * all.at(text) / lengths / of_split;
      if (expected > 30) CHECK(std::abs(count - expected) < 5.5 * std::sqrt(expected));
    }
  }
}

TEST_CASE("a test of expressions may be longer than training", "[tasks][arithmetic]") {
  for (const bool brackets : {false, true}) {
    OptionValues longer = options(15, 5, 5, "+-*", brackets);
    longer["test_length"] = std::int64_t{51};
    const auto task = make_task(task_config("modular_arithmetic", longer));
    std::set<std::size_t> lengths;
    for (const Sequence& sequence : evaluation_sequences(*task, classes, Split::test)) {
      const auto words = words_of(task->decode(sequence.tokens));
      lengths.insert(words.size());
      CHECK(sequence.targets[0] == expression_value(words, 5));
    }
    CHECK(*lengths.begin() == (brackets ? 16 : 17));
    CHECK(*lengths.rbegin() == 51);
    CHECK(lengths.size() == (brackets ? 36 : 18));
    for (const Sequence& sequence : evaluation_sequences(*task->of_length(101), classes, Split::validation))
      CHECK(sequence.tokens.size() == 101);
  }
}

TEST_CASE("expressions say which lengths can't be", "[tasks][arithmetic]") {
  const auto message = [](const OptionValues& values) {
    return refusal([&] { make_task(task_config("modular_arithmetic", values)); });
  };
  CHECK(message(options(40, 0, 5, "+-*", false)) ==
        "[task.modular_arithmetic] length = 40 is even, but an expression without brackets has one number more than "
        "operators; take 39 or 41, or brackets = true");
  CHECK(
      message(options(41, 8, 5, "+*", true)) ==
      "[task.modular_arithmetic] min_length = 8 is even, but with operators = \"+*\" each expression has an odd number "
      "of tokens, since no number has a minus sign; take 7 or 9");
  CHECK(message(options(40, 8, 5, "+-*", true)) == "(not refused)");
  OptionValues longer = options(15, 0, 5, "+-*", false);
  longer["test_length"] = std::int64_t{16};
  CHECK_THAT(message(longer), Contains("test_length = 16 is even") && Contains("take 15 or 17"));
  longer["test_length"] = std::int64_t{15};
  CHECK_THAT(message(longer), Contains("test_length = 15 is not above length = 15"));
  CHECK_THAT(message(options(15, 17, 5, "+-*", false)), Contains("min_length = 17 is above length = 15"));
  CHECK_THAT(message(options(3, 3, 5, "+-*", true)), Contains("gives only 5 different examples"));
}
