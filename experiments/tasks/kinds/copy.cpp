// Task `copy`: repeat the input sequence.
#include "experiments/tasks/symbol_task.hpp"

namespace heed {

extern const TaskInfo task_copy;

namespace {

const OptionTable<SymbolOptions>& copy_option_table() {
  static const auto table = option_table<SymbolOptions>(
      length_option<SymbolOptions>("symbols", 1024), min_length_option<SymbolOptions>("symbols", 1024),
      option("symbols", &SymbolOptions::symbols, "the number of different symbols").at_least(2).at_most(4096),
      test_length_option<SymbolOptions>("symbols", 2048));
  return table;
}

Generator copy_of(const SymbolOptions& options) {
  Generator copy = symbol_generator("copy", copy_option_table(), options,
                                    [](const std::vector<std::int32_t>& input, std::vector<std::int32_t>& output) {
                                      output = input;
                                    });
  const Lengths lengths = input_lengths("copy", options.length, options.min_length);
  copy.chance = [=](bool ends) { return chance_of_symbols(lengths, options.symbols, ends); };
  make_other_lengths(copy, options, copy_of);
  return copy;
}

std::unique_ptr<Task> make_copy(const Config& config) {
  return generated_task(config, copy_of(copy_option_table().read(config.task_options)));
}

} // namespace

const TaskInfo task_copy = {
    {.name = "copy",
     .summary = "symbols, then the same symbols again: 3 1 4 | 3 1 4",
     .paper = "Graves, Wayne and Danihelka 2014, Neural Turing Machines, arXiv 1410.5401",
     .cost = "sequences of 2 length tokens; one head that attends to a fixed distance is enough",
     .options = copy_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_copy};

} // namespace heed
