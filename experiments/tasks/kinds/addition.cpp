// Task `addition`: predict the sum of two whole numbers, digit by digit.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace heed {

extern const TaskInfo task_addition;

namespace {

struct AdditionOptions {
  std::int64_t digits = 3;
  std::int64_t min_digits = 1;
  std::int64_t test_digits = 0;
  bool reverse = false;
};

const OptionTable<AdditionOptions>& addition_option_table() {
  static const auto table = option_table<AdditionOptions>(
      option("digits", &AdditionOptions::digits, "the most digits of the longer number").between(1, 200).unit("digits"),
      option("min_digits", &AdditionOptions::min_digits, "the fewest digits of the longer number")
          .between(1, 200)
          .unit("digits"),
      option("test_digits", &AdditionOptions::test_digits,
             "the most digits of the longer number in the test split; it has at least one digit more than in training")
          .between(0, 400)
          .unit("digits")
          .default_means("0: as in training"),
      option("reverse", &AdditionOptions::reverse,
             "the sum begins with its last digit, the order in which it is computed by hand"));
  return table;
}

constexpr std::int32_t plus = 10, equals = 11;

/// Appends a random number with exactly `digits` digits. Its first digit is 0 only if it has a single digit.
void draw_number(RandomSource& random, std::int64_t digits, std::vector<std::int32_t>& to) {
  for (std::int64_t i = 0; i < digits; ++i) {
    const std::uint64_t low = i == 0 && digits > 1 ? 1 : 0;
    to.push_back(static_cast<std::int32_t>(low + random.below(10 - low)));
  }
}

/// Writes the digits of the sum, least significant first.
void add_digits(std::span<const std::int32_t> a, std::span<const std::int32_t> b, std::vector<std::int32_t>& sum) {
  sum.clear();
  std::int32_t carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size()) carry += a[a.size() - 1 - i];
    if (i < b.size()) carry += b[b.size() - 1 - i];
    sum.push_back(carry % 10);
    carry /= 10;
  }
  if (carry > 0) sum.push_back(carry);
}

/// Draws the longer number's digit count uniformly, then the other's uniformly up to this count, then which number
/// comes first.
void draw_sum(RandomSource& random, const Lengths& digits, bool reverse, Example& example) {
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  };
  const std::int64_t longer = draw(digits.shortest, digits.longest), other = draw(1, longer);
  const bool longer_first = random.below(2) == 0;
  example.input.clear();
  draw_number(random, longer_first ? longer : other, example.input);
  const std::size_t middle = example.input.size();
  example.input.push_back(plus);
  draw_number(random, longer_first ? other : longer, example.input);
  const std::span<const std::int32_t> input(example.input);
  add_digits(input.first(middle), input.subspan(middle + 1), example.output);
  if (!reverse) std::ranges::reverse(example.output);
}

/// The number of pairs whose longer number has a digit count in the range `digits`.
double count_pairs(const Lengths& digits) {
  return std::pow(100.0, static_cast<double>(digits.longest)) -
         (digits.shortest == 1 ? 0.0 : std::pow(100.0, static_cast<double>(digits.shortest - 1)));
}

/// Estimates the frequency of the most frequent output token on examples drawn for this purpose, end tokens included.
Task::Chance commonest_digit(const Generator& sum, std::uint64_t seed) {
  std::array<std::int64_t, 11> seen = {};
  std::int64_t all = 0;
  RandomSource random({seed, Stream::evaluation_sequences, 3});
  Example example;
  for (int i = 0; i < 20000; ++i) {
    sum.draw(random, example);
    for (const std::int32_t digit : example.output) ++seen[static_cast<std::size_t>(digit)];
    ++seen.back();
    all += std::ssize(example.output) + 1;
  }
  const auto commonest = std::ranges::max_element(seen) - seen.begin();
  return {static_cast<double>(seen[static_cast<std::size_t>(commonest)]) / static_cast<double>(all),
          commonest == 10 ? "always the end, the commonest output token"
                          : fmt::format("always {}, the commonest output token", commonest)};
}

Generator addition_of(const AdditionOptions& options, std::uint64_t seed) {
  if (options.min_digits > options.digits)
    throw Refused(fmt::format("[task.addition] min_digits = {} is above digits = {}; it may be 1 to {}",
                              options.min_digits, options.digits, options.digits));
  if (options.test_digits != 0 && options.test_digits <= options.digits)
    throw Refused(fmt::format("[task.addition] test_digits = {} is not above digits = {}; numbers of the test split "
                              "must be longer than numbers of training, so it may be {} or more, or 0 for the digits "
                              "of training",
                              options.test_digits, options.digits, options.digits + 1));
  const Lengths digits{options.min_digits, options.digits}, test{options.digits + 1, options.test_digits};
  const std::int64_t longest = std::max(options.digits, options.test_digits);
  Generator sum;
  sum.name = "addition";
  sum.options = addition_option_table().write(options);
  sum.words = number_words(10);
  sum.words.push_back("+");
  sum.words.push_back("=");
  sum.separator = equals;
  sum.ends = true;
  sum.longest_input = 2 * longest + 1;
  sum.longest_output = longest + 1;
  sum.examples = count_pairs(digits);
  sum.enlarge = "task.addition.digits";
  sum.draw = [=](RandomSource& random, Example& example) { draw_sum(random, digits, options.reverse, example); };
  if (options.test_digits != 0) {
    sum.draw_test = [=](RandomSource& random, Example& example) { draw_sum(random, test, options.reverse, example); };
    sum.test_examples = count_pairs(test);
  }
  sum.chance = [sum, seed](bool) { return commonest_digit(sum, seed); };
  make_other_lengths(sum, options, "digits", &AdditionOptions::digits, [seed](AdditionOptions other) {
    other.min_digits = other.digits;
    other.test_digits = 0;
    return addition_of(other, seed);
  });
  return sum;
}

std::unique_ptr<Task> make_addition(const Config& config) {
  return generated_task(config, addition_of(addition_option_table().read(config.task_options),
                                            static_cast<std::uint64_t>(config.task.seed)));
}

} // namespace

const TaskInfo task_addition = {
    {.name = "addition",
     .summary = "two whole numbers and their sum, digit by digit: 4 7 + 5 8 = 1 0 5",
     .paper = "Lee, Sreenivasan, Lee, Lee and Papailiopoulos 2023, Teaching Arithmetic to Small Transformers, "
              "arXiv 2307.03381 (there with the sum reversed)",
     .cost = "sequences of 3 digits + 4 tokens at most",
     .options = addition_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_addition};

} // namespace heed
