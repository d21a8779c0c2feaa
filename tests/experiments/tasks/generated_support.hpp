// Generated tasks for tests, and what stands in their examples.
#pragma once

#include "experiments/config/config.hpp"
#include "tests/experiments/tasks/task_support.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace heed::test {

using Tokens = std::vector<std::int32_t>;

inline OptionValues whole_numbers(std::initializer_list<std::pair<const char*, int>> values) {
  OptionValues options;
  for (const auto& [name, value] : values) options[name] = std::int64_t{value};
  return options;
}

/// Every generated task, with equal lengths and, if the task supports them, unequal lengths.
inline std::vector<Config> generated_configs() {
  return {task_config("copy"),
          task_config("copy", whole_numbers({{"length", 6}, {"min_length", 3}, {"symbols", 5}})),
          task_config("reverse"),
          task_config("reverse", whole_numbers({{"length", 7}, {"min_length", 2}, {"symbols", 4}})),
          task_config("sort"),
          task_config("sort", whole_numbers({{"length", 7}, {"min_length", 4}, {"symbols", 10}})),
          task_config("recall"),
          task_config("recall", whole_numbers({{"pairs", 3}, {"keys", 3}, {"values", 5}})),
          task_config("parity"),
          task_config("parity", whole_numbers({{"length", 12}, {"min_length", 7}})),
          task_config("modular_addition"),
          task_config("modular_addition", {{"operation", std::string("x^3+xy^2+y")}, {"train", 0.5}}),
          task_config("modular_arithmetic"),
          task_config("modular_arithmetic", {{"length", std::int64_t{24}},
                                             {"min_length", std::int64_t{5}},
                                             {"operators", std::string("-*")},
                                             {"brackets", true}}),
          task_config("listops", whole_numbers({{"length", 40}, {"min_length", 20}, {"depth", 3}, {"arguments", 4}}))};
}

inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// A calculator of expressions with the usual precedence, as words, modulo a number. Each rule moves `at`.
struct Calculator {
  const std::vector<std::string>& words;
  std::int64_t modulus;
  std::size_t at = 0;

  std::string next() const { return at < words.size() ? words[at] : ""; }
  std::int64_t sum() {
    std::int64_t value = product();
    while (next() == "+" || next() == "-") {
      const bool minus = words[at++] == "-";
      const std::int64_t other = product();
      value += minus ? -other : other;
    }
    return value;
  }
  std::int64_t product() {
    std::int64_t value = single();
    while (next() == "*") {
      ++at;
      value = value % modulus * (single() % modulus); // no product overflows
    }
    return value;
  }
  std::int64_t single() {
    const std::string word = words.at(at++);
    if (word == "-") return -single();
    if (word != "(") return std::stoll(word);
    const std::int64_t value = sum();
    if (next() != ")") throw std::runtime_error("a bracket is not closed");
    ++at;
    return value;
  }
};

/// The value of an expression: one of 0 ... modulus - 1.
inline std::int64_t expression_value(const std::vector<std::string>& words, std::int64_t modulus) {
  Calculator calculator{words, modulus};
  const std::int64_t value = calculator.sum() % modulus;
  if (calculator.at != words.size()) throw std::runtime_error("an expression has words after its end");
  return (value + modulus) % modulus;
}

/// The part of a language-model sequence that identifies the example: everything up to the first target's position.
inline std::vector<std::string> prompt_of(const Task& task, const Sequence& sequence) {
  const auto first = std::ranges::find_if(sequence.targets, [](std::int32_t t) { return t != ignored; });
  return words_of(
      task.decode(std::span(sequence.tokens).first(static_cast<std::size_t>(first - sequence.targets.begin()) + 1)));
}

} // namespace heed::test
