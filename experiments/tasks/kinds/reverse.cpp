// Task `reverse`: the output is the input from its end to its beginning.
#include "experiments/config/config.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

namespace heed {

extern const TaskInfo task_reverse;

namespace {

struct ReverseOptions {
  std::int64_t length = 8;
  std::int64_t min_length = 0;
  std::int64_t symbols = 8;
  std::int64_t test_length = 0;
};

const OptionTable<ReverseOptions>& reverse_option_table() {
  static const auto table = option_table<ReverseOptions>(
      option("length", &ReverseOptions::length, "how many symbols the longest input has")
          .at_least(1)
          .at_most(1024)
          .unit("symbols"),
      option("min_length", &ReverseOptions::min_length, "how many symbols the shortest input has")
          .at_least(0)
          .at_most(1024)
          .unit("symbols")
          .default_means("0: the length, so that all are equally long"),
      option("symbols", &ReverseOptions::symbols, "how many different symbols there are").at_least(2).at_most(4096),
      option("test_length", &ReverseOptions::test_length,
             "how many symbols the longest input of the test has; the shortest has one more than training's longest")
          .at_least(0)
          .at_most(2048)
          .unit("symbols")
          .default_means("0: as in training")
          .neutral(0));
  return table;
}

Generator reverse_of(const ReverseOptions& options) {
  const Lengths lengths = lengths_of("reverse", options.length, options.min_length);
  const std::optional<Lengths> test = test_lengths_of("reverse", options.length, options.test_length);
  Generator reverse;
  reverse.name = "reverse";
  reverse.options = reverse_option_table().write(options);
  reverse.words = number_words(options.symbols);
  reverse.words.push_back("|");
  reverse.separator = static_cast<std::int32_t>(options.symbols);
  reverse.longest_input = reverse.longest_output = test ? test->longest : lengths.longest;
  reverse.enlarge = "task.reverse.length or task.reverse.symbols";
  reverse.exact = true;
  draw_by_lengths(
      reverse, lengths, test,
      [=](RandomSource& random, const Lengths& which, Example& example) {
        draw_symbols(random, which, options.symbols, example.input);
        example.output.assign(example.input.rbegin(), example.input.rend());
      },
      [=](const Lengths& which) { return count_inputs(which, options.symbols); });
  reverse.chance = [=](bool ends) { return chance_of_symbols(lengths, options.symbols, ends); };
  make_other_lengths(reverse, options, reverse_of);
  return reverse;
}

std::unique_ptr<Task> make_reverse(const Config& config) {
  return generated_task(config, reverse_of(reverse_option_table().read(config.task_options)));
}

} // namespace

const TaskInfo task_reverse = {
    {.name = "reverse",
     .summary = "symbols, then the same symbols from the last to the first: 3 1 4 | 4 1 3",
     .paper = "Grefenstette, Hermann, Suleyman and Blunsom 2015, Learning to Transduce with Unbounded Memory, "
              "arXiv 1506.02516",
     .equals = "",
     .cost = "rows of 2 length tokens; the distance to look back grows by two with every token",
     .options = reverse_option_table().options(),
     .presets = {},
     .uses = {"train.evaluate_lengths"}},
    make_reverse};

} // namespace heed
