// Task `reverse`: output the input sequence in reverse order.
#include "experiments/tasks/symbol_task.hpp"

namespace heed {

extern const TaskInfo task_reverse;

namespace {

const OptionTable<SymbolOptions>& reverse_option_table() {
  static const auto table = symbol_option_table(1024, 4096, 2048);
  return table;
}

Generator reverse_of(const SymbolOptions& options) {
  Generator reverse = symbol_generator("reverse", reverse_option_table(), options,
                                       [](const std::vector<std::int32_t>& input, std::vector<std::int32_t>& output) {
                                         output.assign(input.rbegin(), input.rend());
                                       });
  make_other_lengths(reverse, options, reverse_of);
  return reverse;
}

} // namespace

const TaskInfo task_reverse = {
    {.name = "reverse",
     .summary = "symbols, then the same symbols from the last to the first: 3 1 4 | 4 1 3",
     .paper = "Grefenstette, Hermann, Suleyman and Blunsom 2015, Learning to Transduce with Unbounded Memory, "
              "arXiv 1506.02516",
     .cost = "sequences of 2 length tokens; the distance to the source token grows by two with every token",
     .options = reverse_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<reverse_option_table, reverse_of>};

} // namespace heed
