// Task `parity`: predict whether the number of ones in a bit sequence is odd.
#include "experiments/tasks/symbol_task.hpp"

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
  static const auto table = option_table<ParityOptions>(length_option<ParityOptions>("bits", 1024),
                                                        min_length_option<ParityOptions>("bits", 1024),
                                                        test_length_option<ParityOptions>("bits", 2048));
  return table;
}

Generator parity_of(const ParityOptions& options) {
  Generator parity = symbol_generator({.name = "parity",
                                       .lengths = input_lengths("parity", options.length, options.min_length),
                                       .test = test_lengths("parity", options.length, options.test_length),
                                       .options = parity_option_table().write(options),
                                       .words = {"0", "1", "="},
                                       .enlarge = "task.parity.length",
                                       .labels = 2,
                                       .output = [](const std::vector<std::int32_t>& input,
                                                    std::vector<std::int32_t>& output) {
                                         output.assign(1, std::accumulate(input.begin(), input.end(), 0) % 2);
                                       }});
  parity.chance = [](bool ends) { return chance_of_label(2, "2", ends); };
  make_other_lengths(parity, options, parity_of);
  return parity;
}

} // namespace

const TaskInfo task_parity = {
    {.name = "parity",
     .summary = "bits, then 1 if an odd number of them are 1, else 0: 1 0 1 1 = 1",
     .paper = "Hahn 2020, Theoretical Limitations of Self-Attention in Neural Sequence Models, arXiv 1906.06755",
     .cost = "sequences of length + 1 tokens (classification: length); hard for attention, since every bit counts",
     .options = parity_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<parity_option_table, parity_of>};

} // namespace heed
