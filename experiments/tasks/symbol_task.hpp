// The common part of tasks whose input is independent, equally likely symbols and whose output is a function of the
// input. The file of a single task defines this function and the chance level.
#pragma once

#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// Option `length` of an options struct.
template <class Options> auto length_option(const std::string& of, std::int64_t most) {
  return option("length", &Options::length, "the most " + of + " of an input")
      .between(1, static_cast<double>(most))
      .unit(of);
}
/// Option `min_length`.
template <class Options> auto min_length_option(const std::string& of, std::int64_t most) {
  return option("min_length", &Options::min_length, "the fewest " + of + " of an input")
      .between(0, static_cast<double>(most))
      .unit(of)
      .default_means("0: all have the length");
}
/// Option `test_length`.
template <class Options> auto test_length_option(const std::string& of, std::int64_t most) {
  return option("test_length", &Options::test_length,
                "the most " + of + " of an input in the test split; its shortest has one more than training's longest")
      .between(0, static_cast<double>(most))
      .unit(of)
      .default_means("0: as in training");
}

/// The options of tasks over any number of symbols.
struct SymbolOptions {
  std::int64_t length = 8;
  std::int64_t min_length = 0;
  std::int64_t symbols = 8;
  std::int64_t test_length = 0;
};

/// Their table. @param most_tested  symbols of an input in the test split
OptionTable<SymbolOptions> symbol_option_table(std::int64_t longest, std::int64_t most_symbols,
                                               std::int64_t most_tested);

/// The definition of a task over symbols 0 ... symbols - 1.
struct SymbolTask {
  std::string name;
  std::int64_t symbols = 2;
  Lengths lengths = {};             ///< the input lengths
  std::optional<Lengths> test = {}; ///< the input lengths of the test, if they are longer
  OptionValues options = {};
  std::vector<std::string> words = {}; ///< the word of each symbol; the separator's word is the last
  std::string enlarge = {};            ///< see Generator
  /// Number of classes of the output; 0: the output has as many tokens as the input
  std::int64_t labels = 0;
  void (*output)(const std::vector<std::int32_t>& input, std::vector<std::int32_t>& output) = nullptr;
};

/// The generator of the task, without the chance level and without `of_length`.
Generator symbol_generator(const SymbolTask& task);

/// Like above, from options. The words are the symbols' numbers and "|". Chance is that of independent outputs
/// (`chance_of_symbols`).
Generator symbol_generator(const std::string& name, const OptionTable<SymbolOptions>& table,
                           const SymbolOptions& options,
                           void (*output)(const std::vector<std::int32_t>&, std::vector<std::int32_t>&));

} // namespace heed
