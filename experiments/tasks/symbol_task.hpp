// Tasks whose input is symbols drawn independently, each as likely as the others, and whose output follows from them. A
// task's own file says what follows, and what chance gives.
#pragma once

#include "experiments/config/config.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace heed {

/// Option `length` of a struct with this member.
template <class Options> auto length_option(const std::string& of, std::int64_t most) {
  return option("length", &Options::length, "how many " + of + " the longest input has")
      .at_least(1)
      .at_most(static_cast<double>(most))
      .unit(of);
}
/// Option `min_length`.
template <class Options> auto min_length_option(const std::string& of, std::int64_t most) {
  return option("min_length", &Options::min_length, "how many " + of + " the shortest input has")
      .at_least(0)
      .at_most(static_cast<double>(most))
      .unit(of)
      .default_means("0: the length, so that all are equally long");
}
/// Option `test_length`.
template <class Options> auto test_length_option(const std::string& of, std::int64_t most) {
  return option("test_length", &Options::test_length,
                "how many " + of +
                    " the longest input of the test has; the shortest has one more than training's longest")
      .at_least(0)
      .at_most(static_cast<double>(most))
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

/// What a task over symbols 0 ... symbols - 1 is.
struct SymbolTask {
  std::string name;
  std::int64_t symbols = 2;
  Lengths lengths = {};             ///< of inputs
  std::optional<Lengths> test = {}; ///< of the test's inputs, where they are longer
  OptionValues options = {};
  std::vector<std::string> words = {}; ///< of the symbols; the separator's is the last
  std::string enlarge = {};            ///< as in Generator
  std::int64_t labels = 0;             ///< the output is one of so many; 0: as many tokens as the input
  void (*output)(const std::vector<std::int32_t>& input, std::vector<std::int32_t>& output) = nullptr;
};

/// Its generator but for chance and for other lengths.
Generator symbol_generator(const SymbolTask& task);

/// The same from options: words are the symbols' numbers and "|".
Generator symbol_generator(const std::string& name, const OptionTable<SymbolOptions>& table,
                           const SymbolOptions& options,
                           void (*output)(const std::vector<std::int32_t>&, std::vector<std::int32_t>&));

} // namespace heed
