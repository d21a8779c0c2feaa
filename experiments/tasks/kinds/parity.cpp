// Task `parity`: whether the number of ones in the input is odd.
#include "experiments/config/config.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <numeric>

namespace heed {

extern const TaskInfo task_parity;

namespace {

struct ParityOptions {
  std::int64_t length = 16;
  std::int64_t min_length = 0;
  std::int64_t test_length = 0;
};

const OptionTable<ParityOptions>& parity_option_table() {
  static const auto table = option_table<ParityOptions>(
      option("length", &ParityOptions::length, "how many bits the longest input has")
          .at_least(1)
          .at_most(1024)
          .unit("bits"),
      option("min_length", &ParityOptions::min_length, "how many bits the shortest input has")
          .at_least(0)
          .at_most(1024)
          .unit("bits")
          .default_means("0: the length, so that all are equally long"),
      option("test_length", &ParityOptions::test_length,
             "how many bits the longest input of the test has; the shortest has one more than training's longest")
          .at_least(0)
          .at_most(2048)
          .unit("bits")
          .default_means("0: as in training")
          .neutral(0));
  return table;
}

Generator parity_of(const ParityOptions& options) {
  const Lengths lengths = lengths_of("parity", options.length, options.min_length);
  const std::optional<Lengths> test = test_lengths_of("parity", options.length, options.test_length);
  Generator parity;
  parity.name = "parity";
  parity.options = parity_option_table().write(options);
  parity.words = {"0", "1", "="};
  parity.separator = 2;
  parity.longest_input = test ? test->longest : lengths.longest;
  parity.longest_output = 1;
  parity.labels = 2;
  parity.enlarge = "task.parity.length";
  parity.exact = true;
  draw_by_lengths(
      parity, lengths, test,
      [](RandomSource& random, const Lengths& which, Example& example) {
        draw_symbols(random, which, 2, example.input);
        example.output.assign(1, std::accumulate(example.input.begin(), example.input.end(), 0) % 2);
      },
      [](const Lengths& which) { return count_inputs(which, 2); });
  parity.chance = [](bool ends) { return chance_of_label(2, "2", ends); };
  make_other_lengths(parity, options, parity_of);
  return parity;
}

std::unique_ptr<Task> make_parity(const Config& config) {
  return generated_task(config, parity_of(parity_option_table().read(config.task_options)));
}

} // namespace

const TaskInfo task_parity = {
    {.name = "parity",
     .summary = "bits, then 1 where an odd number of them are ones, else 0: 1 0 1 1 = 1",
     .paper = "Hahn 2020, Theoretical Limitations of Self-Attention in Neural Sequence Models, arXiv 1906.06755",
     .equals = "",
     .cost = "rows of length + 1 tokens (classification: length); hard for attention, since every bit counts",
     .options = parity_option_table().options(),
     .presets = {},
     .uses = {"train.evaluate_lengths"}},
    make_parity};

} // namespace heed
