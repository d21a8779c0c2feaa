// Task `induction`: distinct symbols in random order, then the same sequence again, once or more. The targets are the
// symbols of the repeats that the symbol before them determines.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

namespace heed {

extern const TaskInfo task_induction;

namespace {

struct InductionOptions {
  std::int64_t length = 16;
  std::int64_t min_length = 0;
  std::int64_t test_length = 0;
  std::int64_t symbols = 64;
  std::int64_t repeats = 2;
};

const OptionTable<InductionOptions>& induction_option_table() {
  using O = InductionOptions;
  static const auto table = option_table<O>(
      option("length", &O::length, "the most symbols of the repeated sequence").between(2, 1024).unit("symbols"),
      option("min_length", &O::min_length, "the fewest symbols of the repeated sequence")
          .between(0, 1024)
          .unit("symbols")
          .default_means("0: all have the length"),
      option("test_length", &O::test_length,
             "the most symbols of the repeated sequence in the test split; its shortest has one more than training's "
             "longest")
          .between(0, 2048)
          .unit("symbols")
          .default_means("0: as in training"),
      option("symbols", &O::symbols, "the number of different symbols; a sequence has no symbol twice")
          .between(2, 65536),
      option("repeats", &O::repeats, "how often the sequence occurs in an example").between(2, 16));
  return table;
}

/// Draws a sequence without its last symbol, which is only a target. In each copy after the first, each symbol
/// determines the next symbol of the copy.
void draw_copies(RandomSource& random, const Lengths& lengths, const InductionOptions& options, Example& example) {
  const auto more = static_cast<std::uint64_t>(lengths.longest - lengths.shortest);
  const std::int64_t length = lengths.shortest + (more == 0 ? 0 : static_cast<std::int64_t>(random.below(more + 1)));
  draw_different(random, options.symbols, length, example.scratch);
  const auto n = static_cast<std::size_t>(length), places = n * static_cast<std::size_t>(options.repeats) - 1;
  example.input.resize(places);
  example.output.assign(places, ignored);
  for (std::size_t i = 0; i < places; ++i) {
    example.input[i] = example.scratch[i % n];
    if (i >= n && i % n + 1 < n) example.output[i] = example.scratch[i % n + 1];
  }
}

/// s! / (s - n)!, summed over the allowed lengths n, for s symbols.
double count_sequences(const Lengths& lengths, std::int64_t symbols) {
  double count = 0, of_length = 1;
  for (std::int64_t n = 1; n <= lengths.longest; ++n) {
    of_length *= static_cast<double>(symbols - n + 1);
    if (n >= lengths.shortest) count += of_length;
  }
  return count;
}

/// Targets are uniform over the symbols. The n - 1 targets of a copy are distinct.
Task::Chance chance_of_copies(const Lengths& lengths, std::int64_t symbols) {
  Task::Chance chance = chance_of_label(symbols, "symbols", false);
  double all_right = 1, sum = 0;
  for (std::int64_t n = 1; n <= lengths.longest; ++n) {
    if (n > 1) all_right /= static_cast<double>(symbols - n + 2);
    if (n >= lengths.shortest) sum += all_right;
  }
  chance.sequence = Task::Level{sum / static_cast<double>(lengths.longest - lengths.shortest + 1),
                                "1 / (symbols (symbols - 1) ...), a factor for each target of a copy"};
  return chance;
}

Generator induction_of(const InductionOptions& options) {
  const Lengths lengths = input_lengths("induction", options.length, options.min_length);
  const std::optional<Lengths> test = test_lengths("induction", options.length, options.test_length);
  if (lengths.shortest < 2)
    throw Refused("[task.induction] min_length = 1 gives no target: a sequence of one symbol has no next symbol; take "
                  "2 or more");
  const std::int64_t longest = test ? test->longest : lengths.longest;
  if (longest > options.symbols)
    throw Refused(fmt::format("[task.induction] symbols = {} is below {} = {}, but a sequence has no symbol twice; "
                              "raise symbols to {} at least",
                              options.symbols, test ? "test_length" : "length", longest, longest));
  Generator induction;
  induction.name = "induction";
  induction.options = induction_option_table().write(options);
  induction.words = number_words(options.symbols);
  induction.longest_input = longest * options.repeats - 1;
  induction.places = true;
  induction.enlarge = "task.induction.length or task.induction.symbols";
  draw_by_lengths(
      induction, lengths, test,
      [=](RandomSource& random, const Lengths& which, Example& example) {
        draw_copies(random, which, options, example);
      },
      [=](const Lengths& which) { return count_sequences(which, options.symbols); });
  induction.chance = [=](bool) { return chance_of_copies(lengths, options.symbols); };
  make_other_lengths(induction, options, induction_of);
  return induction;
}

} // namespace

const TaskInfo task_induction = {
    {.name = "induction",
     .summary =
         "a sequence of different symbols, repeated: in the repetition, each symbol determines the next: 3 1 4 3 1 has "
         "the targets 1 and 4 at the second 3 and 1",
     .paper = "Olsson et al. 2022, In-context Learning and Induction Heads, arXiv 2209.11895",
     .cost = "sequences of repeats length - 1 tokens; needs a head that attends to the previous token, and a head that "
             "searches for it",
     .options = induction_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<induction_option_table, induction_of>};

} // namespace heed
