// Task `modular_arithmetic`: the value of an expression over the whole numbers modulo m.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace heed {

extern const TaskInfo task_modular_arithmetic;

namespace {

struct ModularArithmeticOptions {
  std::int64_t length = 19;
  std::int64_t min_length = 1;
  std::int64_t test_length = 0;
  std::int64_t modulus = 5;
  std::string operators = "+-*";
  bool brackets = false;
};

const OptionTable<ModularArithmeticOptions>& modular_arithmetic_option_table() {
  using O = ModularArithmeticOptions;
  static const auto table = option_table<O>(
      option("length", &O::length, "the most tokens of an expression; without brackets, an odd number")
          .between(1, 4096)
          .unit("tokens"),
      option("min_length", &O::min_length, "the fewest tokens of an expression; without brackets, an odd number")
          .between(0, 4096)
          .unit("tokens")
          .default_means("0: all have the length"),
      option("test_length", &O::test_length,
             "the most tokens of an expression in the test split; its shortest is longer than training's longest")
          .between(0, 8192)
          .unit("tokens")
          .default_means("0: as in training"),
      option("modulus", &O::modulus, "the m of the numbers 0 to m - 1").between(2, 256),
      option("operators", &O::operators, "the operators, all equally likely")
          .one_of({"+-*", "+-", "+*", "-*", "+", "-", "*"}),
      option("brackets", &O::brackets,
             "whether each operation has brackets around it; without, products are calculated before sums and "
             "differences"));
  return table;
}

/// The expressions of an option table: numbers are the tokens 0 ... modulus - 1, and the operators follow.
class Expressions {
public:
  explicit Expressions(const ModularArithmeticOptions& options)
      : modulus_(options.modulus), operators_(options.operators), brackets_(options.brackets) {}

  /// 2 if each expression has an odd number of tokens, else 1. A minus sign before a number gives even numbers.
  std::int64_t step() const { return brackets_ && operators_.find('-') != operators_.npos ? 1 : 2; }

  std::vector<std::string> words() const {
    std::vector<std::string> words = number_words(modulus_);
    for (const char o : operators_) words.emplace_back(1, o);
    if (brackets_) words.insert(words.end(), {"(", ")"});
    words.emplace_back("=");
    return words;
  }

  void draw(RandomSource& random, const Lengths& lengths, Example& example) const {
    const std::int64_t length = lengths.shortest +
                                step() * below(random, (lengths.longest - lengths.shortest) / step() + 1);
    example.input.clear();
    const std::int64_t value = brackets_ ? with_brackets(random, length, example.input)
                                         : without_brackets(random, length, example.input);
    example.output.assign(1, static_cast<std::int32_t>(value));
  }

  /// The number of expressions of these lengths. Lengths above 256 tokens count as 256.
  double count(const Lengths& lengths) const {
    const auto modulus = static_cast<double>(modulus_), operators = static_cast<double>(operators_.size());
    const std::int64_t longest = std::min<std::int64_t>(lengths.longest, 256);
    double count = 0;
    std::vector<double> of(static_cast<std::size_t>(longest) + 1); // by length
    for (std::int64_t n = 1; n <= longest; n += step()) {
      double& here = of[static_cast<std::size_t>(n)];
      if (!brackets_) here = n == 1 ? modulus : of[static_cast<std::size_t>(n - 2)] * operators * modulus;
      else if (n <= 4) here = modulus;
      else
        for (std::int64_t left = 1; left <= n - 4; left += step())
          here += of[static_cast<std::size_t>(left)] * operators * of[static_cast<std::size_t>(n - 3 - left)];
      if (n >= std::min(lengths.shortest, longest - (longest - 1) % step())) count += here;
    }
    return count;
  }

private:
  static std::int64_t below(RandomSource& random, std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  }
  std::int64_t draw_number(RandomSource& random, std::vector<std::int32_t>& to) const {
    to.push_back(static_cast<std::int32_t>(below(random, modulus_)));
    return to.back();
  }
  char draw_operator(RandomSource& random, std::vector<std::int32_t>& to) const {
    const std::int64_t which = below(random, std::ssize(operators_));
    to.push_back(static_cast<std::int32_t>(modulus_ + which));
    return operators_[static_cast<std::size_t>(which)];
  }
  std::int32_t bracket(bool closing) const {
    return static_cast<std::int32_t>(modulus_ + std::ssize(operators_)) + (closing ? 1 : 0);
  }

  std::int64_t without_brackets(RandomSource& random, std::int64_t length, std::vector<std::int32_t>& to) const {
    std::int64_t sum = 0, term = draw_number(random, to); // of all earlier terms; the last term, with its sign
    while (std::ssize(to) < length) {
      const char operation = draw_operator(random, to);
      const std::int64_t number = draw_number(random, to);
      if (operation == '*') {
        term = term * number % modulus_;
        continue;
      }
      sum += term;
      term = operation == '+' ? number : modulus_ - number;
    }
    return (sum + term) % modulus_;
  }

  /// Adds an expression of this length. A longer one is two expressions with an operator, in brackets; all lengths of
  /// the first are equally likely. The shortest are 3, - 3, ( 3 ) and ( - 3 ).
  std::int64_t with_brackets(RandomSource& random, std::int64_t length, std::vector<std::int32_t>& to) const {
    if (length == 1) return draw_number(random, to);
    if (length == 2) {
      to.push_back(static_cast<std::int32_t>(modulus_ + static_cast<std::int64_t>(operators_.find('-'))));
      return (modulus_ - draw_number(random, to)) % modulus_;
    }
    to.push_back(bracket(false));
    std::int64_t value = 0;
    if (length <= 4) value = with_brackets(random, length - 2, to);
    else {
      const std::int64_t first = 1 + step() * below(random, (length - 5) / step() + 1);
      const std::int64_t left = with_brackets(random, first, to);
      const char operation = draw_operator(random, to);
      const std::int64_t right = with_brackets(random, length - 3 - first, to);
      value = (operation == '*' ? left * right : operation == '+' ? left + right : left + modulus_ - right) % modulus_;
    }
    to.push_back(bracket(true));
    return value;
  }

  std::int64_t modulus_;
  std::string operators_;
  bool brackets_;
};

/// How often an expression has each value. All values that have the same greatest common divisor with the modulus are
/// equally likely: to multiply each term of a sum or difference, or one factor of a product, by a unit multiplies the
/// value by it, and a unit times a random number is as random. These values are a class, so each divisor has a class.
class Frequencies {
public:
  using Classes = std::vector<double>; ///< the probability of each class

  explicit Frequencies(const ModularArithmeticOptions& options)
      : modulus_(options.modulus), brackets_(options.brackets), step_(Expressions(options).step()) {
    const auto all = static_cast<double>(options.operators.size());
    product_ = static_cast<double>(std::ranges::count(options.operators, '*')) / all;
    sum_ = 1 - product_; // a number and its negative are in the same class
    for (std::int64_t d = 1; d <= modulus_; ++d)
      if (modulus_ % d == 0) divisors_.push_back(d);
    const std::size_t n = divisors_.size();
    sizes_.resize(n);
    sums_.resize(n * n * n);
    for (std::int64_t x = 0; x < modulus_; ++x) ++sizes_[class_of(x)];
    for (std::size_t a = 0; a < n; ++a)
      for (std::int64_t y = 0; y < modulus_; ++y) {
        const std::size_t b = class_of(y);
        sums_[(a * n + b) * n + class_of(divisors_[a] + y)] += 1 / sizes_[b];
      }
    for (const double size : sizes_) uniform_.push_back(size / static_cast<double>(modulus_));
  }

  /// The probability of each number, if these lengths are equally likely.
  std::vector<double> of(const Lengths& lengths) const {
    const std::vector<Classes> all = brackets_ ? with_brackets(lengths.longest) : without_brackets(lengths.longest);
    Classes mean(divisors_.size());
    for (std::int64_t length = lengths.shortest; length <= lengths.longest; length += step_)
      for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += all[static_cast<std::size_t>(length)][c];
    const double total = std::accumulate(mean.begin(), mean.end(), 0.0);
    std::vector<double> out;
    for (std::int64_t x = 0; x < modulus_; ++x) out.push_back(mean[class_of(x)] / sizes_[class_of(x)] / total);
    return out;
  }

private:
  std::size_t class_of(std::int64_t x) const {
    return static_cast<std::size_t>(std::ranges::find(divisors_, std::gcd(x, modulus_)) - divisors_.begin());
  }

  /// The classes of x + y, or of x y, where pairs[a * n + b] is the probability that x is in class a and y in class b.
  Classes sum(const std::vector<double>& pairs) const {
    const std::size_t n = divisors_.size();
    Classes out(n);
    for (std::size_t ab = 0; ab < n * n; ++ab)
      for (std::size_t c = 0; c < n; ++c) out[c] += pairs[ab] * sums_[ab * n + c];
    return out;
  }
  Classes product(const std::vector<double>& pairs) const {
    const std::size_t n = divisors_.size();
    Classes out(n);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b) out[class_of(divisors_[a] * divisors_[b])] += pairs[a * n + b];
    return out;
  }

  /// By length. The state is the sum of earlier terms, and the last term, which has no more to do with the sum than its
  /// class says.
  std::vector<Classes> without_brackets(std::int64_t longest) const {
    const std::size_t n = divisors_.size();
    std::vector<double> state(n * n);                                         // by the sum's class and the term's
    for (std::size_t t = 0; t < n; ++t) state[(n - 1) * n + t] = uniform_[t]; // 0 is in the last class
    std::vector<Classes> out(static_cast<std::size_t>(longest) + 1);
    for (std::int64_t length = 1; length <= longest; length += 2) {
      const Classes value = sum(state);
      std::vector<double> next(n * n);
      for (std::size_t s = 0; s < n; ++s)
        for (std::size_t t = 0; t < n; ++t) {
          next[s * n + t] += sum_ * value[s] * uniform_[t];
          for (std::size_t factor = 0; factor < n; ++factor)
            next[s * n + class_of(divisors_[t] * divisors_[factor])] += product_ * state[s * n + t] * uniform_[factor];
        }
      state = std::move(next);
      out[static_cast<std::size_t>(length)] = value;
    }
    return out;
  }

  std::vector<Classes> with_brackets(std::int64_t longest) const {
    const std::size_t n = divisors_.size();
    std::vector<Classes> out(static_cast<std::size_t>(longest) + 1);
    for (std::int64_t length = 1; length <= longest; length += step_) {
      Classes& here = out[static_cast<std::size_t>(length)];
      here = uniform_;
      if (length <= 4) continue;
      std::vector<double> pairs(n * n);
      for (std::int64_t first = 1; first <= length - 4; first += step_) {
        const double* left = out[static_cast<std::size_t>(first)].data();
        const double* right = out[static_cast<std::size_t>(length - 3 - first)].data();
        double* pair = pairs.data();
        for (std::size_t a = 0; a < n; ++a)
          for (std::size_t b = 0; b < n; ++b) *pair++ += left[a] * right[b];
      }
      const std::int64_t lefts = (length - 5) / step_ + 1;
      const auto ways = static_cast<double>(lefts);
      const Classes sums = sum(pairs), products = product(pairs);
      for (std::size_t c = 0; c < n; ++c) here[c] = (sum_ * sums[c] + product_ * products[c]) / ways;
    }
    return out;
  }

  std::int64_t modulus_;
  bool brackets_;
  std::int64_t step_;
  double product_ = 0, sum_ = 0;       // probabilities of operators
  std::vector<std::int64_t> divisors_; // of the modulus; the number of a class is its divisor's
  std::vector<double> sizes_;          // numbers in each class
  std::vector<double> sums_;           // [a, b, c]: the probability that x + y is in c if x is in a and y in b
  Classes uniform_;
};

Task::Chance chance_of_values(const ModularArithmeticOptions& options, const Lengths& lengths, bool ends) {
  const std::vector<double> shares = Frequencies(options).of(lengths);
  const auto [least, most] = std::ranges::minmax_element(shares);
  if (*most - *least < 1e-9) return chance_of_label(options.modulus, "modulus", ends);
  return chance_of_shares(shares, std::to_string(most - shares.begin()), ends);
}

void check(const ModularArithmeticOptions& options, std::int64_t step) {
  for (const auto& [name, length] : {std::pair<const char*, std::int64_t>{"length", options.length},
                                     {"min_length", options.min_length},
                                     {"test_length", options.test_length}})
    if (step == 2 && length > 0 && length % 2 == 0)
      throw Refused(fmt::format(
          "[task.modular_arithmetic] {} = {} is even, but {}; take {} or {}{}", name, length,
          options.brackets ? fmt::format("with operators = \"{}\" each expression has an odd number of tokens, "
                                         "since no number has a minus sign",
                                         options.operators)
                           : "an expression without brackets has one number more than operators",
          length - 1, length + 1, options.brackets ? "" : ", or brackets = true"));
}

Generator modular_arithmetic_of(const ModularArithmeticOptions& options) {
  const Expressions expressions(options);
  check(options, expressions.step());
  const Lengths lengths = input_lengths("modular_arithmetic", options.length, options.min_length);
  std::optional<Lengths> test = test_lengths("modular_arithmetic", options.length, options.test_length);
  if (test) test->shortest = options.length + expressions.step();
  Generator value;
  value.name = "modular_arithmetic";
  value.options = modular_arithmetic_option_table().write(options);
  value.words = expressions.words();
  value.separator = static_cast<std::int32_t>(std::ssize(value.words) - 1);
  value.longest_input = std::max(options.length, options.test_length);
  value.longest_output = 1;
  value.varied = lengths.shortest < lengths.longest;
  value.labels = options.modulus;
  value.exact = true;
  value.enlarge = "task.modular_arithmetic.length or task.modular_arithmetic.modulus";
  draw_by_lengths(
      value, lengths, test,
      [=](RandomSource& random, const Lengths& which, Example& example) { expressions.draw(random, which, example); },
      [=](const Lengths& which) { return expressions.count(which); });
  value.chance = [=](bool ends) { return chance_of_values(options, lengths, ends); };
  make_other_lengths(value, options, modular_arithmetic_of);
  return value;
}

} // namespace

const TaskInfo task_modular_arithmetic = {
    {.name = "modular_arithmetic",
     .summary = "an expression over the whole numbers modulo m and its value: 1 + 2 * 3 = 2, where m is 5; or with "
                "brackets, ( ( 4 - 1 ) * ( - 3 ) ) = 1",
     .paper =
         "Deletang et al. 2022, Neural Networks and the Chomsky Hierarchy, arXiv 2207.02098 (\"modular arithmetic "
         "(simple)\" without brackets, \"modular arithmetic\" with brackets, by default of + and - only; modulus 5, "
         "lengths up to 40 in training and up to 500 in the test); Grazzi et al. 2024, arXiv 2411.12537",
     .cost = "sequences of length + 1 tokens (classification: length)",
     .options = modular_arithmetic_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<modular_arithmetic_option_table, modular_arithmetic_of>};

} // namespace heed
