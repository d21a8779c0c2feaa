// Task `copy`: the output is the input again.
#include "experiments/config/config.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

namespace heed {

extern const TaskInfo task_copy;

namespace {

struct CopyOptions {
  std::int64_t length = 8;
  std::int64_t min_length = 0;
  std::int64_t symbols = 8;
  std::int64_t test_length = 0;
};

const OptionTable<CopyOptions>& copy_option_table() {
  static const auto table = option_table<CopyOptions>(
      option("length", &CopyOptions::length, "how many symbols the longest input has")
          .at_least(1)
          .at_most(1024)
          .unit("symbols"),
      option("min_length", &CopyOptions::min_length, "how many symbols the shortest input has")
          .at_least(0)
          .at_most(1024)
          .unit("symbols")
          .default_means("0: the length, so that all are equally long"),
      option("symbols", &CopyOptions::symbols, "how many different symbols there are").at_least(2).at_most(4096),
      option("test_length", &CopyOptions::test_length,
             "how many symbols the longest input of the test has; the shortest has one more than training's longest")
          .at_least(0)
          .at_most(2048)
          .unit("symbols")
          .default_means("0: as in training")
          .neutral(0));
  return table;
}

Generator copy_of(const CopyOptions& options) {
  const Lengths lengths = lengths_of("copy", options.length, options.min_length);
  const std::optional<Lengths> test = test_lengths_of("copy", options.length, options.test_length);
  Generator copy;
  copy.name = "copy";
  copy.options = copy_option_table().write(options);
  copy.words = number_words(options.symbols);
  copy.words.push_back("|");
  copy.separator = static_cast<std::int32_t>(options.symbols);
  copy.longest_input = copy.longest_output = test ? test->longest : lengths.longest;
  copy.enlarge = "task.copy.length or task.copy.symbols";
  copy.exact = true;
  draw_by_lengths(
      copy, lengths, test,
      [=](RandomSource& random, const Lengths& which, Example& example) {
        draw_symbols(random, which, options.symbols, example.input);
        example.output = example.input;
      },
      [=](const Lengths& which) { return count_inputs(which, options.symbols); });
  copy.chance = [=](bool ends) { return chance_of_symbols(lengths, options.symbols, ends); };
  make_other_lengths(copy, options, copy_of);
  return copy;
}

std::unique_ptr<Task> make_copy(const Config& config) {
  return generated_task(config, copy_of(copy_option_table().read(config.task_options)));
}

} // namespace

const TaskInfo task_copy = {{.name = "copy",
                             .summary = "symbols, then the same symbols again: 3 1 4 | 3 1 4",
                             .paper = "Graves, Wayne and Danihelka 2014, Neural Turing Machines, arXiv 1410.5401",
                             .equals = "",
                             .cost = "rows of 2 length tokens; one head that looks back by a fixed distance is enough",
                             .options = copy_option_table().options(),
                             .presets = {},
                             .uses = {"train.evaluate_lengths"}},
                            make_copy};

} // namespace heed
