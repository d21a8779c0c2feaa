// Task `stack`: elements are pushed onto several stacks and popped from them. At each pop, the popped element is the
// target.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heed {

extern const TaskInfo task_stack;

namespace {

/// A push and a pop.
constexpr std::int64_t least_length = 2;

struct StackOptions {
  std::int64_t length = 32;
  std::int64_t min_length = 0;
  std::int64_t test_length = 0;
  std::int64_t stacks = 4;
  std::int64_t symbols = 16;
};

const OptionTable<StackOptions>& stack_option_table() {
  using O = StackOptions;
  static const auto table = option_table<O>(
      option("length", &O::length, "the most operations of a sequence, of three tokens each")
          .between(least_length, 4096)
          .unit("operations"),
      option("min_length", &O::min_length, "the fewest operations of a sequence")
          .between(0, 4096)
          .unit("operations")
          .default_means("0: all have the length"),
      option("test_length", &O::test_length,
             "the most operations of a sequence in the test split; its shortest has one more than training's longest")
          .between(0, 8192)
          .unit("operations")
          .default_means("0: as in training"),
      option("stacks", &O::stacks, "the number of stacks").between(1, 4096),
      option("symbols", &O::symbols, "the number of different elements").between(2, 4096));
  return table;
}

/// The tokens push and pop, the names of the stacks, and the elements.
constexpr std::int32_t push = 0, pop = 1, first_stack = 2;

/// An operation is a push with this probability if some stack has an element. So all stacks together grow by 0.2
/// elements at each operation.
constexpr double push_probability = 0.6;

/// Draws operations: a push of any element onto any stack, or a pop from any stack that has an element, all equally
/// likely. The last operation is always a pop. An operation must be a push if no stack has an element, or if a pop
/// would leave none for the last operation. The last element is only a target, not an input.
void draw_operations(RandomSource& random, const Lengths& lengths, const StackOptions& options, Example& example) {
  const auto draw = [&](std::int64_t n) {
    return static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  const std::int64_t length = lengths.shortest + draw(lengths.longest - lengths.shortest + 1);
  const auto first_symbol = first_stack + static_cast<std::int32_t>(options.stacks);
  // For each stack, the operation that pushed its top, or -1; for each operation that is a push, that of the element
  // below; then the stacks that have elements.
  std::vector<std::int32_t>& scratch = example.scratch;
  scratch.assign(static_cast<std::size_t>(options.stacks + length), -1);
  const auto top = [&](std::int32_t stack) -> std::int32_t& { return scratch[static_cast<std::size_t>(stack)]; };
  const auto below = [&](std::int32_t operation) -> std::int32_t& {
    return scratch[static_cast<std::size_t>(options.stacks + operation)];
  };
  const std::size_t filled = scratch.size();
  std::int64_t elements = 0;
  example.input.clear();
  example.output.clear();
  for (std::int32_t operation = 0; operation < length; ++operation) {
    const std::int64_t left = length - operation;
    const bool must_push = elements == 0 || (elements == 1 && left == 2);
    const bool pushes = left > 1 && (must_push || random.uniform() < push_probability);
    elements += pushes ? 1 : -1;
    if (pushes) {
      const std::int32_t stack = draw(options.stacks), symbol = first_symbol + draw(options.symbols);
      if (top(stack) < 0) scratch.push_back(stack);
      below(operation) = top(stack);
      top(stack) = operation;
      example.input.insert(example.input.end(), {push, first_stack + stack, symbol});
      example.output.insert(example.output.end(), 3, ignored);
      continue;
    }
    const std::size_t which = filled +
                              static_cast<std::size_t>(draw(std::ssize(scratch) - static_cast<std::int64_t>(filled)));
    const std::int32_t stack = scratch[which];
    const std::int32_t symbol = example.input[3 * static_cast<std::size_t>(top(stack)) + 2];
    top(stack) = below(top(stack));
    if (top(stack) < 0) {
      scratch[which] = scratch.back();
      scratch.pop_back();
    }
    example.input.insert(example.input.end(), {pop, first_stack + stack, symbol});
    example.output.insert(example.output.end(), {ignored, symbol, ignored});
  }
  example.input.pop_back();
  example.output.pop_back();
}

using Counts = std::vector<double>; ///< by number of operations

/// The ways in which the operations of two groups of stacks can alternate.
Counts interleaved(const Counts& a, const Counts& b) {
  Counts out(a.size());
  std::vector<double> choose(a.size()); // n choose m, for the present n
  for (std::size_t n = 0; n < out.size(); ++n) {
    choose[n] = 1;
    for (std::size_t m = n; m-- > 1;) choose[m] += choose[m - 1];
    for (std::size_t m = 0; m <= n; ++m)
      if (a[m] > 0) out[n] += choose[m] * a[m] * b[n - m];
  }
  return out;
}

/// The number of sequences of these lengths. Lengths above 256 count as 256, since there are far more sequences than
/// anyone needs.
double count_sequences(const Lengths& lengths, const StackOptions& options) {
  const auto longest = static_cast<std::size_t>(std::min<std::int64_t>(lengths.longest, 256));
  // Of one stack: all sequences, and those that end with a pop, without this pop.
  Counts of_one(longest), before_pop(longest), at_depth(longest + 1);
  at_depth[0] = 1;
  for (std::size_t n = 0; n < longest; ++n) {
    for (std::size_t d = 0; d <= n; ++d) {
      of_one[n] += at_depth[d];
      if (d > 0) before_pop[n] += at_depth[d];
    }
    Counts next(longest + 1);
    for (std::size_t d = 0; d <= n; ++d) {
      next[d + 1] += static_cast<double>(options.symbols) * at_depth[d];
      if (d > 0) next[d - 1] += at_depth[d];
    }
    at_depth = std::move(next);
  }
  // The stack of the last pop, interleaved with all others.
  Counts all = std::move(before_pop), power = std::move(of_one);
  for (std::int64_t others = options.stacks - 1; others > 0; others /= 2) {
    if (others % 2 == 1) all = interleaved(all, power);
    if (others > 1) power = interleaved(power, power);
  }
  double count = 0;
  for (std::size_t n = static_cast<std::size_t>(std::min<std::int64_t>(lengths.shortest, 256)); n <= longest; ++n)
    count += static_cast<double>(options.stacks) * all[n - 1];
  return count;
}

/// Elements are uniform and independent. A guess of a whole sequence is right with probability (1 / symbols)^pops.
/// at[n] is the mean of this power over the operations so far, counted as 0 unless all stacks together have n elements.
Task::Chance chance_of_elements(const Lengths& lengths, std::int64_t symbols) {
  Task::Chance chance = chance_of_label(symbols, "symbols", false);
  const double right = chance.accuracy, pushes = push_probability, right_pop = (1 - pushes) * right;
  std::vector<double> at = {1}; // before the last two operations
  double sum = 0;
  for (std::int64_t length = least_length; length <= lengths.longest; ++length) {
    for (std::size_t n = 0; length >= lengths.shortest && n < at.size(); ++n)
      sum += right * at[n] * (n < 2 ? 1 : pushes + right_pop);
    std::vector<double> next(at.size() + 1);
    for (std::size_t n = 0; n < at.size(); ++n) {
      next[n + 1] += at[n] * (n == 0 ? 1 : pushes);
      if (n > 0) next[n - 1] += at[n] * right_pop;
    }
    at = std::move(next);
  }
  chance.sequence = Task::Level{sum / static_cast<double>(lengths.longest - lengths.shortest + 1),
                                "the mean of (1 / symbols)^pops"};
  return chance;
}

Generator stack_of(const StackOptions& options) {
  if (options.min_length == 1)
    throw Refused(
        "[task.stack] min_length = 1 is too short: the last operation is a pop, and the first is a push; take "
        "2 or more, or 0 (all have the length)");
  const Lengths lengths = input_lengths("stack", options.length, options.min_length);
  Generator stack;
  stack.name = "stack";
  stack.options = stack_option_table().write(options);
  stack.words = {"push", "pop"};
  for (const std::string& word : number_words(options.stacks, "s")) stack.words.push_back(word);
  for (const std::string& word : number_words(options.symbols, "x")) stack.words.push_back(word);
  stack.longest_input = 3 * std::max(options.length, options.test_length) - 1;
  stack.places = true;
  stack.exact = true;
  stack.enlarge = "task.stack.length, task.stack.stacks or task.stack.symbols";
  draw_by_lengths(
      stack, lengths, test_lengths("stack", options.length, options.test_length),
      [=](RandomSource& random, const Lengths& which, Example& example) {
        draw_operations(random, which, options, example);
      },
      [=](const Lengths& which) { return count_sequences(which, options); });
  stack.chance = [=](bool) { return chance_of_elements(lengths, options.symbols); };
  make_other_lengths(stack, options, stack_of);
  return stack;
}

} // namespace

const TaskInfo task_stack = {
    {.name = "stack",
     .summary =
         "several stacks: push s1 x3 puts element x3 onto stack s1, and pop s1 removes the element that was pushed "
         "last, which is the target at s1 and the next token: push s1 x3 push s0 x5 pop s1 x3 pop s0 has the "
         "targets x3 at the second s1 and x5 at the second s0",
     .paper =
         "Kimi Team 2025, Kimi Linear, arXiv 2510.26692, section 5.1 (64 stacks, lengths of 256 to 2048 tokens; how "
         "operations are drawn is not said)",
     .cost = "sequences of 3 length - 1 tokens, with a target for each pop",
     .options = stack_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<stack_option_table, stack_of>};

} // namespace heed
