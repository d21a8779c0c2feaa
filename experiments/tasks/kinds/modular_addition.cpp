// Task `modular_addition`: predict the sum of two numbers modulo p, or the result of another operation on them.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

extern const TaskInfo task_modular_addition;

namespace {

struct ModularAdditionOptions {
  std::int64_t modulus = 97;
  std::string operation = "+";
  double train = 0.0;
};

using Number = std::int64_t;

/// a / b modulo the prime p, for b not 0. By Fermat's little theorem, this is a b^(p - 2).
Number divide(Number a, Number b, Number p) {
  for (Number exponent = p - 2; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) a = a * b % p;
    b = b * b % p;
  }
  return a;
}

/// An operation on two numbers, before reduction modulo p. The operations are those of Power et al. 2022, appendix
/// A.1.1, and the product.
struct Operation {
  const char* word;
  Number (*of)(Number x, Number y, Number p);
  bool even = false;    ///< for each y, x -> result is a bijection, so all results are equally likely
  bool divides = false; ///< p must be prime
  Number least = 0;     ///< the smallest allowed y
};

constexpr Operation operations[] = {
    {"+", [](Number x, Number y, Number) { return x + y; }, true},
    {"-", [](Number x, Number y, Number p) { return x + p - y; }, true},
    {"*", [](Number x, Number y, Number) { return x * y; }},
    {"/", divide, true, true, 1},
    {"/-", [](Number x, Number y, Number p) { return y % 2 == 1 ? divide(x, y, p) : x + p - y; }, true, true},
    {"x^2+y^2", [](Number x, Number y, Number) { return x * x + y * y; }},
    {"x^2+xy+y^2", [](Number x, Number y, Number) { return x * x + x * y + y * y; }},
    {"x^2+xy+y^2+x", [](Number x, Number y, Number) { return x * x + x * y + y * y + x; }},
    {"x^3+xy", [](Number x, Number y, Number) { return x * x * x + x * y; }},
    {"x^3+xy^2+y", [](Number x, Number y, Number) { return x * x * x + x * y * y + y; }},
};

std::vector<std::string> operation_words() {
  std::vector<std::string> words;
  for (const Operation& operation : operations) words.emplace_back(operation.word);
  return words;
}

const OptionTable<ModularAdditionOptions>& modular_addition_option_table() {
  using O = ModularAdditionOptions;
  static const auto table = option_table<O>(
      option("modulus", &O::modulus, "the p of (a + b) mod p; there are p^2 examples").between(2, 65536),
      option("operation", &O::operation,
             "the operation on the two numbers x and y, modulo p; /- divides them if y is odd, and subtracts them "
             "otherwise")
          .one_of(operation_words()),
      option("train", &O::train,
             "the fraction of all examples for training, which is then in epochs; all others are for validation, and "
             "there is no test split")
          .at_least(0)
          .below(1)
          .default_means("0: 8/10, drawn anew for every step, with 1/10 for validation and 1/10 for the test"));
  return table;
}

bool is_prime(Number p) {
  for (Number d = 2; d * d <= p; ++d)
    if (p % d == 0) return false;
  return p > 1;
}

/// The largest modulus for which all examples are listed or counted.
constexpr Number most_listed = 1024;

void check(const ModularAdditionOptions& options, const Operation& operation) {
  const Number p = options.modulus;
  if (operation.divides && !is_prime(p)) {
    Number below = p, above = p;
    while (below > 2 && !is_prime(below)) --below;
    while (!is_prime(above)) ++above;
    throw Refused(fmt::format("[task.modular_addition] modulus = {} is not prime, but operation = \"{}\" divides by "
                              "every number except 0, which needs a prime; the nearest primes are {} and {}",
                              p, operation.word, below, above));
  }
  if (p > most_listed && (options.train > 0 || !operation.even))
    throw Refused(fmt::format("[task.modular_addition] modulus = {} is above {}, and {}; lower it, or {}", p,
                              most_listed,
                              options.train > 0 ? fmt::format("with train = {} all examples are listed", options.train)
                                                : fmt::format("the results of operation = \"{}\" are counted over "
                                                              "all examples, for chance",
                                                              operation.word),
                              options.train > 0 ? "set train to 0" : "take another operation"));
}

std::unique_ptr<Task> make_modular_addition(const Config& config) {
  const ModularAdditionOptions options = modular_addition_option_table().read(config.task_options);
  const Operation& operation = *std::ranges::find(operations, options.operation,
                                                  [](const Operation& o) { return std::string(o.word); });
  check(options, operation);
  const Number p = options.modulus, seconds = p - operation.least;
  const auto sign = static_cast<std::int32_t>(p), equals = sign + 1;
  const auto result = [=](Number x, Number y) { return static_cast<std::int32_t>(operation.of(x, y, p) % p); };
  const auto fill = [=](Number x, Number y, Example& example) {
    example.input.assign({static_cast<std::int32_t>(x), sign, static_cast<std::int32_t>(y)});
    example.output.assign(1, result(x, y));
  };
  Generator sum;
  sum.name = "modular_addition";
  sum.options = modular_addition_option_table().write(options);
  sum.words = number_words(p);
  sum.words.emplace_back(operation.word);
  sum.words.push_back("=");
  sum.separator = equals;
  sum.longest_input = 3;
  sum.longest_output = 1;
  sum.labels = p;
  sum.examples = static_cast<double>(p) * static_cast<double>(seconds);
  sum.enlarge = "task.modular_addition.modulus";
  sum.draw = [=](RandomSource& random, Example& example) {
    const auto x = static_cast<Number>(random.below(static_cast<std::uint64_t>(p)));
    const auto y = operation.least + static_cast<Number>(random.below(static_cast<std::uint64_t>(seconds)));
    fill(x, y, example);
  };
  if (options.train > 0)
    sum.listed = {options.train, p * seconds,
                  [=](std::int64_t i, Example& example) { fill(i / seconds, operation.least + i % seconds, example); }};
  sum.chance = [=](bool ends) {
    if (operation.even) return chance_of_label(p, "modulus", ends);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(p));
    for (Number x = 0; x < p; ++x)
      for (Number y = operation.least; y < p; ++y) ++counts[static_cast<std::size_t>(result(x, y))];
    return chance_of_counts(counts, std::to_string(std::ranges::max_element(counts) - counts.begin()), ends);
  };
  return generated_task(config, std::move(sum));
}

} // namespace

const TaskInfo task_modular_addition = {
    {.name = "modular_addition",
     .summary = "two numbers and their sum modulo p: 60 + 50 = 13, where p is 97; or another operation on them",
     .paper = "Power, Burda, Edwards, Babuschkin and Misra 2022, Grokking, arXiv 2201.02177 (there half of the "
              "examples are for training, train = 0.5; here 8/10 by default)",
     .cost = "sequences of 4 tokens (classification: 3)",
     .options = modular_addition_option_table().options(),
     .uses = {"train.full_batch"},
     .conditions = {{"task.seed",
                     "data.split_seed",
                     {"-1"},
                     false,
                     {{"", "task.modular_addition.train", {OptionCondition::anything}, true}}},
                    {"task.validation", "task.modular_addition.train", {OptionCondition::anything}, true},
                    {"task.test", "task.modular_addition.train", {OptionCondition::anything}, true},
                    {"train.full_batch", "task.modular_addition.train", {OptionCondition::anything}}}},
    make_modular_addition};

} // namespace heed
