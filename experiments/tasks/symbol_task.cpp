#include "experiments/tasks/symbol_task.hpp"

#include <fmt/format.h>

namespace heed {

OptionTable<SymbolOptions> symbol_option_table(std::int64_t longest, std::int64_t most_symbols,
                                               std::int64_t most_tested) {
  return option_table<SymbolOptions>(length_option<SymbolOptions>("symbols", longest),
                                     min_length_option<SymbolOptions>("symbols", longest),
                                     option("symbols", &SymbolOptions::symbols, "the number of different symbols")
                                         .between(2, static_cast<double>(most_symbols)),
                                     test_length_option<SymbolOptions>("symbols", most_tested));
}

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
  Generator out = symbol_generator(task);
  out.chance = [lengths = task.lengths, symbols = options.symbols](bool ends) {
    return chance_of_symbols(lengths, symbols, ends);
  };
  return out;
}

} // namespace heed
