// Task `copy`: repeat the input sequence.
#include "experiments/tasks/symbol_task.hpp"

namespace heed {

extern const TaskInfo task_copy;

namespace {

const OptionTable<SymbolOptions>& copy_option_table() {
  static const auto table = symbol_option_table(1024, 4096, 2048);
  return table;
}

Generator copy_of(const SymbolOptions& options) {
  Generator copy = symbol_generator("copy", copy_option_table(), options,
                                    [](const std::vector<std::int32_t>& input, std::vector<std::int32_t>& output) {
                                      output = input;
                                    });
  make_other_lengths(copy, options, copy_of);
  return copy;
}

} // namespace

const TaskInfo task_copy = {
    {.name = "copy",
     .summary = "symbols, then the same symbols again: 3 1 4 | 3 1 4",
     .paper = "Graves, Wayne and Danihelka 2014, Neural Turing Machines, arXiv 1410.5401",
     .cost = "sequences of 2 length tokens; one head that attends to a fixed distance is enough",
     .options = copy_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<copy_option_table, copy_of>};

} // namespace heed
