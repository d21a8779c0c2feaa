// Task `selective_copy`: symbols at random places among noise tokens, then as many markers. The targets at the markers
// are the symbols, in order.
#include "autograd/error.hpp"
#include "experiments/tasks/generated_task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <cmath>

namespace heed {

extern const TaskInfo task_selective_copy;

namespace {

struct SelectiveCopyOptions {
  std::int64_t length = 256;
  std::int64_t copied = 16;
  std::int64_t symbols = 14;
  std::int64_t noise_tokens = 1;
};

const OptionTable<SelectiveCopyOptions>& selective_copy_option_table() {
  using O = SelectiveCopyOptions;
  static const auto table = option_table<O>(
      option("length", &O::length, "the number of tokens of an example, with the markers at its end")
          .between(2, 8192)
          .unit("tokens"),
      option("copied", &O::copied, "the number of symbols of an example, each with its marker")
          .between(1, 4096)
          .unit("symbols"),
      option("symbols", &O::symbols, "the number of different symbols").between(2, 4096),
      option("noise_tokens", &O::noise_tokens, "the number of different noise tokens; 1 is a blank").between(1, 4096));
  return table;
}

/// The number of examples: the places of the symbols, the symbols, and the noise tokens.
double count_examples(const SelectiveCopyOptions& options) {
  const std::int64_t places = options.length - options.copied, others = places - options.copied;
  double count = std::pow(static_cast<double>(options.noise_tokens), static_cast<double>(others));
  for (std::int64_t i = 1; i <= options.copied; ++i) {
    count *= static_cast<double>(others + i) / static_cast<double>(i); // of a binomial coefficient
    count *= static_cast<double>(options.symbols);
  }
  return count;
}

/// Draws an example. Symbols are the tokens 0 ... symbols - 1. Noise tokens follow them. The last token of the
/// vocabulary is the marker. All sets of places are equally likely: a place has a symbol with probability (symbols that
/// are left) / (places that are left).
void draw_symbols_in_noise(RandomSource& random, const SelectiveCopyOptions& options, Example& example) {
  const auto draw = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n)));
  };
  const auto marker = static_cast<std::int32_t>(options.symbols + options.noise_tokens);
  const auto length = static_cast<std::size_t>(options.length);
  example.input.assign(length, marker);
  example.output.assign(length, ignored);
  const std::int64_t places = options.length - options.copied;
  std::int64_t copied = 0;
  for (std::int64_t place = 0; place < places; ++place) {
    const bool is_symbol = draw(places - place) < options.copied - copied;
    const std::int64_t token = is_symbol ? draw(options.symbols) : options.symbols + draw(options.noise_tokens);
    example.input[static_cast<std::size_t>(place)] = static_cast<std::int32_t>(token);
    if (is_symbol) example.output[static_cast<std::size_t>(places + copied++)] = static_cast<std::int32_t>(token);
  }
}

Generator selective_copy_of(const SelectiveCopyOptions& options) {
  if (2 * options.copied > options.length)
    throw Refused(fmt::format("[task.selective_copy] length = {} is too short for copied = {}: each symbol and its "
                              "marker take two tokens; raise length to {}, or lower copied to {}",
                              options.length, options.copied, 2 * options.copied, options.length / 2));
  Generator copy;
  copy.name = "selective_copy";
  copy.options = selective_copy_option_table().write(options);
  copy.words = number_words(options.symbols);
  if (options.noise_tokens == 1) copy.words.push_back(".");
  else
    for (const std::string& word : number_words(options.noise_tokens, "n")) copy.words.push_back(word);
  copy.words.push_back("|");
  copy.longest_input = options.length;
  copy.places = true;
  copy.examples = count_examples(options);
  copy.exact = true;
  copy.enlarge = "task.selective_copy.length, task.selective_copy.copied or task.selective_copy.symbols";
  copy.draw = [=](RandomSource& random, Example& example) { draw_symbols_in_noise(random, options, example); };
  copy.chance = [=](bool) { return chance_of_symbols({options.copied, options.copied}, options.symbols, false); };
  make_other_lengths(copy, options, "length", &SelectiveCopyOptions::length, selective_copy_of);
  return copy;
}

} // namespace

const TaskInfo task_selective_copy = {
    {.name = "selective_copy",
     .summary =
         "symbols at random places among noise, then a marker for each symbol, whose target it is: 3 . 1 . . 4 | "
         "| | has the targets 3, 1 and 4 at the markers",
     .paper = "Gu and Dao 2023, Mamba, arXiv 2312.00752, section 4.1.1; Poli et al. 2024, MAD, arXiv 2403.17844 "
              "(length 256, 16 symbols, 16 different tokens; there, one marker and then blanks, at which the targets "
              "are, and the last symbol stands before the marker)",
     .cost = "sequences of length tokens, with copied targets; earlier targets are no inputs",
     .options = selective_copy_option_table().options(),
     .uses = {"train.evaluate_lengths"}},
    make_generated<selective_copy_option_table, selective_copy_of>};

} // namespace heed
