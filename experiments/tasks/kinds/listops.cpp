// Task `listops`: nested operations on lists of digits. The target is the resulting digit.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

namespace heed {

extern const TaskInfo task_listops;

namespace {

/// An operation, two digits, and the closing bracket.
constexpr std::int64_t least_length = 4;

struct ListopsOptions {
  std::int64_t length = 64;
  std::int64_t min_length = least_length;
  std::int64_t test_length = 0;
  std::int64_t depth = 5;
  std::int64_t arguments = 5;
  double nested = 0.25;
};

const OptionTable<ListopsOptions>& listops_option_table() {
  using O = ListopsOptions;
  static const auto table = option_table<O>(
      option("length", &O::length, "the most tokens of an expression").between(least_length, 4096).unit("tokens"),
      option("min_length", &O::min_length, "the fewest tokens of an expression")
          .between(least_length, 4096)
          .unit("tokens"),
      option("test_length", &O::test_length,
             "the most tokens of an expression in the test split; its shortest has one more than training's longest")
          .between(0, 8192)
          .unit("tokens")
          .default_means("0: as in training"),
      option("depth", &O::depth, "the most operations that are nested in each other").between(1, 64),
      option("arguments", &O::arguments, "the most arguments of an operation; the fewest are 2").between(2, 64),
      option("nested", &O::nested, "probability that an argument is an operation instead of a digit")
          .at_least(0)
          .below(1));
  return table;
}

constexpr std::int32_t min_token = 10, max_token = 11, median_token = 12, sum_token = 13, close_token = 14;

/// The result of an operation on its arguments, which the function may reorder. The median of an even number of
/// arguments is the mean of the middle two, rounded down.
std::int32_t apply(std::int32_t operation, std::span<std::int32_t> arguments) {
  switch (operation) {
    case min_token: return std::ranges::min(arguments);
    case max_token: return std::ranges::max(arguments);
    case sum_token: return std::accumulate(arguments.begin(), arguments.end(), 0) % 10;
    default: break;
  }
  std::ranges::sort(arguments);
  const std::size_t middle = arguments.size() / 2;
  return arguments.size() % 2 == 1 ? arguments[middle] : (arguments[middle - 1] + arguments[middle]) / 2;
}

/// Draws random expressions, and rejects an expression whose length is not in the allowed range.
class Expressions {
public:
  Expressions(const ListopsOptions& options, const Lengths& lengths) : options_(options), lengths_(lengths) {}

  /// Draws an expression of an allowed length. Returns false if `tries` draws gave none.
  bool draw(RandomSource& random, Example& example, std::int64_t tries) const {
    for (; tries > 0; --tries) {
      example.input.clear();
      example.scratch.clear();
      if (!add_operation(random, 1, example) || std::ssize(example.input) < lengths_.shortest) continue;
      example.output.assign(1, example.scratch.back());
      return true;
    }
    return false;
  }

private:
  /// Appends an operation's tokens to the input, and its value to the scratch. Returns false if the input gets too
  /// long.
  bool add_operation(RandomSource& random, std::int64_t depth, Example& example) const {
    const auto operation = min_token + static_cast<std::int32_t>(random.below(4));
    const auto arguments = 2 +
                           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(options_.arguments - 1)));
    const std::size_t first = example.scratch.size();
    example.input.push_back(operation);
    for (std::int64_t i = 0; i < arguments; ++i) {
      // At least one token follows for each remaining argument and for each closing bracket.
      if (std::ssize(example.input) + arguments - i + depth > lengths_.longest) return false;
      if (depth < options_.depth && random.uniform() < options_.nested) {
        if (!add_operation(random, depth + 1, example)) return false;
        continue;
      }
      const auto digit = static_cast<std::int32_t>(random.below(10));
      example.input.push_back(digit);
      example.scratch.push_back(digit);
    }
    example.input.push_back(close_token);
    const std::int32_t value = apply(operation, std::span(example.scratch).subspan(first));
    example.scratch.resize(first);
    example.scratch.push_back(value);
    return true;
  }

  ListopsOptions options_;
  Lengths lengths_;
};

/// The number of expressions of these lengths, with lengths above 256 tokens not counted. Dynamic programming: the
/// counts by length up to depth d follow from the counts up to depth d - 1.
double count_expressions(const Lengths& lengths, const ListopsOptions& options) {
  const auto longest = static_cast<std::size_t>(std::min<std::int64_t>(lengths.longest, 256));
  std::vector<double> arguments(longest + 1), operations(longest + 1); // by number of tokens
  arguments[1] = 10;
  for (std::int64_t depth = 0; depth < options.depth; ++depth) {
    std::fill(operations.begin(), operations.end(), 0.0);
    std::vector<double> lists(longest + 1); // lists of a arguments, by number of tokens
    lists[0] = 1;
    for (std::int64_t a = 1; a <= options.arguments; ++a) {
      std::vector<double> longer(longest + 1);
      for (std::size_t n = 0; n <= longest; ++n)
        for (std::size_t m = 1; lists[n] > 0 && n + m <= longest; ++m)
          if (arguments[m] > 0) longer[n + m] += lists[n] * arguments[m];
      lists = std::move(longer);
      for (std::size_t n = 0; a > 1 && n + 2 <= longest; ++n) operations[n + 2] += 4 * lists[n];
    }
    if (options.nested == 0) break;
    const bool known = std::equal(operations.begin() + 2, operations.end(), arguments.begin() + 2);
    std::copy(operations.begin() + 2, operations.end(), arguments.begin() + 2);
    if (known) break; // greater depths don't fit
  }
  const auto first = static_cast<std::ptrdiff_t>(std::min<std::int64_t>(lengths.shortest, 256));
  return std::accumulate(operations.begin() + first, operations.end(), 0.0);
}

constexpr std::int64_t tries_at_first = 2000;
/// The number of tries for later draws. They need far fewer, because `require_found` succeeded before.
constexpr std::int64_t any_tries = std::int64_t{1} << 40;

/// Throws heed::Refused if random draws find expressions of these lengths too rarely.
void require_found(const ListopsOptions& options, const Lengths& lengths, std::uint64_t seed, const char* of) {
  const Expressions expressions(options, lengths);
  RandomSource random({seed, Stream::evaluation_sequences, 4});
  Example example;
  for (int i = 0; i < 16; ++i)
    if (!expressions.draw(random, example, tries_at_first))
      throw Refused(fmt::format("[task.listops] none of {} expressions with depth = {}, arguments = {} and nested = {} "
                                "had {} to {} tokens, the range of {}; widen this range, or change depth, arguments or "
                                "nested",
                                tries_at_first, options.depth, options.arguments, options.nested, lengths.shortest,
                                lengths.longest, of));
}

/// The frequency of the most frequent answer, estimated from 2,000 to 20,000 expressions: fewer if they are long.
Task::Chance commonest_answer(const Generator& listops, std::uint64_t seed, bool ends) {
  std::array<std::int64_t, 10> counts = {};
  RandomSource random({seed, Stream::evaluation_sequences, 3});
  Example example;
  const std::int64_t draws = std::clamp<std::int64_t>(2'000'000 / listops.longest_input, 2000, 20000);
  for (std::int64_t i = 0; i < draws; ++i) {
    listops.draw(random, example);
    ++counts[static_cast<std::size_t>(example.output[0])];
  }
  return chance_of_counts(counts, std::to_string(std::ranges::max_element(counts) - counts.begin()), ends);
}

Generator listops_of(const ListopsOptions& options, std::uint64_t seed) {
  if (options.min_length > options.length)
    throw Refused(fmt::format("[task.listops] min_length = {0} is above length = {1}; it may be 4 to {1}",
                              options.min_length, options.length));
  const Lengths lengths{options.min_length, options.length};
  const std::optional<Lengths> test = test_lengths("listops", options.length, options.test_length);
  require_found(options, lengths, seed, "min_length and length");
  if (test) require_found(options, *test, seed, "length and test_length");
  Generator listops;
  listops.name = "listops";
  listops.options = listops_option_table().write(options);
  listops.words = number_words(10);
  for (const char* word : {"[MIN", "[MAX", "[MED", "[SM", "]", "="}) listops.words.emplace_back(word);
  listops.separator = close_token + 1;
  listops.longest_input = test ? test->longest : lengths.longest;
  listops.longest_output = 1;
  listops.varied = true;
  listops.labels = 10;
  listops.enlarge = "task.listops.length or task.listops.arguments";
  draw_by_lengths(
      listops, lengths, test,
      [=](RandomSource& random, const Lengths& which, Example& example) {
        Expressions(options, which).draw(random, example, any_tries);
      },
      [=](const Lengths& which) { return count_expressions(which, options); });
  listops.chance = [listops, seed](bool ends) { return commonest_answer(listops, seed, ends); };
  make_other_lengths(listops, options, "length", &ListopsOptions::length, [seed](ListopsOptions other) {
    other.min_length = std::max(least_length, other.length - other.length / 10); // one exact length is slow to draw
    other.test_length = 0;
    return listops_of(other, seed);
  });
  return listops;
}

std::unique_ptr<Task> make_listops(const Config& config) {
  return generated_task(config, listops_of(listops_option_table().read(config.task_options),
                                           static_cast<std::uint64_t>(config.task.seed)));
}

} // namespace

const TaskInfo task_listops = {
    {.name = "listops",
     .summary = "nested operations on digits (minimum, maximum, median and sum modulo 10) and their result: [MAX 2 "
                "[MIN 4 7 ] 0 ] = 4",
     .paper = "Nangia and Bowman 2018, ListOps, arXiv 1804.06028; Tay et al. 2020, Long Range Arena, arXiv 2011.04006 "
              "(lengths of 500 to 2000, depth and arguments up to 10)",
     .cost = "sequences of length + 1 tokens at most (classification: length)",
     .options = listops_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_listops};

} // namespace heed
