// Task `dyck`: balanced brackets of several kinds, nested up to a maximum depth. At each closing bracket, its kind is
// the target.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heed {

extern const TaskInfo task_dyck;

namespace {

struct DyckOptions {
  std::int64_t length = 32;
  std::int64_t min_length = 0;
  std::int64_t test_length = 0;
  std::int64_t kinds = 2;
  std::int64_t depth = 4;
};

const OptionTable<DyckOptions>& dyck_option_table() {
  using O = DyckOptions;
  static const auto table = option_table<O>(
      option("length", &O::length, "the most brackets of a sequence, an even number").between(2, 4096).unit("brackets"),
      option("min_length", &O::min_length, "the fewest brackets of a sequence, an even number")
          .between(0, 4096)
          .unit("brackets")
          .default_means("0: all have the length"),
      option("test_length", &O::test_length,
             "the most brackets of a sequence in the test split, an even number; its shortest has two more than "
             "training's longest")
          .between(0, 8192)
          .unit("brackets")
          .default_means("0: as in training"),
      option("kinds", &O::kinds, "the number of kinds of brackets").between(2, 4096),
      option("depth", &O::depth, "the most brackets that are open at once")
          .between(0, 4096)
          .unit("brackets")
          .default_means("0: no limit"));
  return table;
}

/// Draws a sequence of balanced brackets. The last bracket is only a target, not an input. `pairs` is the allowed range
/// of half the length. A bracket opens or closes with equal probability if both are possible. It must open if no
/// bracket is open. It must close if the maximum depth is reached, or if all remaining places are needed to close the
/// open brackets.
void draw_brackets(RandomSource& random, const Lengths& pairs, const DyckOptions& options, Example& example) {
  const auto draw = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  const std::int64_t length = 2 * (pairs.shortest + draw(pairs.longest - pairs.shortest + 1));
  const std::int64_t deepest = options.depth == 0 ? length : options.depth;
  const auto kinds = static_cast<std::int32_t>(options.kinds);
  std::vector<std::int32_t>& open = example.scratch;
  open.clear();
  example.input.clear();
  example.output.clear();
  for (std::int64_t left = length; left > 0; --left) {
    const std::int64_t depth = std::ssize(open);
    const bool must_close = depth == left || depth == deepest;
    const bool closes = must_close || (depth > 0 && draw(2) == 1);
    if (!closes) open.push_back(static_cast<std::int32_t>(draw(kinds)));
    const std::int32_t token = open.back() + (closes ? kinds : 0);
    if (closes) open.pop_back();
    if (left < length) example.output.push_back(closes ? token : ignored);
    if (left > 1) example.input.push_back(token);
  }
}

/// kinds^n times the number of ways to nest n pairs, summed over the allowed n.
double count_sequences(const Lengths& pairs, const DyckOptions& options) {
  const auto deepest = static_cast<std::size_t>(options.depth == 0 ? pairs.longest : options.depth);
  std::vector<double> ways(deepest + 2); // ways to reach each depth with the brackets so far
  ways[0] = 1;
  double count = 0, kinds = 1;
  for (std::int64_t n = 1; n <= pairs.longest; ++n) {
    for (int half = 0; half < 2; ++half) {
      std::vector<double> next(ways.size());
      for (std::size_t d = 0; d <= deepest; ++d) {
        if (d < deepest) next[d + 1] += ways[d];
        if (d > 0) next[d - 1] += ways[d];
      }
      ways = std::move(next);
    }
    kinds *= static_cast<double>(options.kinds);
    if (n >= pairs.shortest) count += kinds * ways[0];
  }
  return count;
}

/// The kinds of the pairs are uniform and independent.
Task::Chance chance_of_kinds(const Lengths& pairs, std::int64_t kinds) {
  Task::Chance chance = chance_of_label(kinds, "kinds", false);
  double sum = 0;
  for (std::int64_t n = pairs.shortest; n <= pairs.longest; ++n)
    sum += std::pow(static_cast<double>(kinds), -static_cast<double>(n));
  const bool varied = pairs.shortest < pairs.longest;
  chance.sequence = Task::Level{sum / static_cast<double>(pairs.longest - pairs.shortest + 1),
                                varied ? "the mean of (1 / kinds)^(length / 2)"
                                       : fmt::format("(1 / kinds)^{}", pairs.longest)};
  return chance;
}

void check(const DyckOptions& options) {
  for (const auto& [name, length] : {std::pair<const char*, std::int64_t>{"length", options.length},
                                     {"min_length", options.min_length},
                                     {"test_length", options.test_length}})
    if (length % 2 == 1)
      throw Refused(fmt::format("[task.dyck] {} = {} is odd, but every open bracket needs a closing one; take {} or "
                                "{}",
                                name, length, length - 1, length + 1));
  if (const std::int64_t most = std::max(options.length, options.test_length) / 2; options.depth > most)
    throw Refused(fmt::format("[task.dyck] depth = {} is more than {} brackets can have; it may be 1 to {}, or "
                              "0 for any",
                              options.depth, 2 * most, most));
}

Generator dyck_of(const DyckOptions& options) {
  check(options);
  const Lengths lengths = input_lengths("dyck", options.length, options.min_length);
  const Lengths pairs{lengths.shortest / 2, lengths.longest / 2};
  std::optional<Lengths> test = test_lengths("dyck", options.length, options.test_length);
  if (test) test = {pairs.longest + 1, test->longest / 2};
  Generator dyck;
  dyck.name = "dyck";
  dyck.options = dyck_option_table().write(options);
  dyck.words = number_words(options.kinds, "(");
  for (const std::string& word : number_words(options.kinds, ")")) dyck.words.push_back(word);
  dyck.longest_input = std::max(options.length, options.test_length) - 1;
  dyck.places = true;
  dyck.enlarge = "task.dyck.length or task.dyck.kinds";
  draw_by_lengths(
      dyck, pairs, test,
      [=](RandomSource& random, const Lengths& which, Example& example) {
        draw_brackets(random, which, options, example);
      },
      [=](const Lengths& which) { return count_sequences(which, options); });
  dyck.chance = [=](bool) { return chance_of_kinds(pairs, options.kinds); };
  make_other_lengths(dyck, options, [](DyckOptions other) {
    other.depth = std::min(other.depth, other.length / 2); // short sequences can't nest as deep
    return dyck_of(other);
  });
  return dyck;
}

} // namespace

const TaskInfo task_dyck = {
    {.name = "dyck",
     .summary =
         "balanced brackets of several kinds; the targets are the kinds of all closing brackets: (1 (0 )0 )1 has the "
         "targets )0 at (0 and )1 at )0",
     .paper = "Hewitt et al. 2020, arXiv 2010.07515 (the language Dyck-(k, m): kinds and depth); Yao et al. 2021, "
              "arXiv 2105.11115",
     .cost = "sequences of length - 1 tokens, half of them with targets",
     .options = dyck_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<dyck_option_table, dyck_of>};

} // namespace heed
