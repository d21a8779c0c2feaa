#include "experiments/tasks/symbol_task.hpp"

#include <fmt/format.h>

namespace heed {

Generator symbol_generator(const SymbolTask& task) {
  Generator out;
  out.name = task.name;
  out.options = task.options;
  out.words = task.words;
  out.separator = static_cast<std::int32_t>(task.symbols);
  out.longest_input = task.test ? task.test->longest : task.lengths.longest;
  out.longest_output = task.labels > 0 ? 1 : out.longest_input;
  out.labels = task.labels;
  out.enlarge = task.enlarge;
  out.exact = true;
  draw_by_lengths(
      out, task.lengths, task.test,
      [symbols = task.symbols, output = task.output](RandomSource& random, const Lengths& which, Example& example) {
        draw_symbols(random, which, symbols, example.input);
        output(example.input, example.output);
      },
      [symbols = task.symbols](const Lengths& which) { return count_inputs(which, symbols); });
  return out;
}

Generator symbol_generator(const std::string& name, const OptionTable<SymbolOptions>& table,
                           const SymbolOptions& options,
                           void (*output)(const std::vector<std::int32_t>&, std::vector<std::int32_t>&)) {
  SymbolTask task{.name = name,
                  .symbols = options.symbols,
                  .lengths = input_lengths(name, options.length, options.min_length),
                  .test = test_lengths(name, options.length, options.test_length),
                  .options = table.write(options),
                  .words = number_words(options.symbols),
                  .enlarge = fmt::format("task.{0}.length or task.{0}.symbols", name),
                  .output = output};
  task.words.push_back("|");
  return symbol_generator(task);
}

} // namespace heed
