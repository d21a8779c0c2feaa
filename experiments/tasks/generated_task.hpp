// The common part of the generated tasks: disjoint splits, endless training sequences, fixed evaluation sequences, the
// formats, and words for tokens. The file of a single task only defines its examples.
#pragma once

#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"
#include "options/options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// An example. The output must be a function of the input, because the input determines the split. If targets are at
/// positions of a single sequence (Generator::places), the input is this sequence, and the output has the target of
/// each position, or `ignored`.
struct Example {
  std::vector<std::int32_t> input, output;
  std::vector<std::int32_t> scratch; ///< scratch memory for a generator, so that drawing allocates nothing
};

/// All examples of a task that has few, as a list. Training then uses a part of the list, in epochs.
struct ListedExamples {
  double training = 0; ///< option `train` of the task's table: the fraction of the examples for training
  std::int64_t count = 0;
  std::function<void(std::int64_t i, Example&)> at; ///< overwrites its argument with example i
};

/// The definition of a generated task.
struct Generator {
  std::string name;               ///< the task's kind
  OptionValues options;           ///< the options that the examples depend on
  int version = 1;                ///< increases whenever the same options give different examples
  std::vector<std::string> words; ///< the word of each token, without spaces
  std::int64_t longest_input = 0, longest_output = 0;
  std::optional<std::int32_t> separator; ///< language_model: the token between input and output
  bool ends = false;                     ///< language_model: outputs end with an end token, because their lengths vary
  bool places = false;                   ///< targets are at positions of a single sequence; only for language_model
  bool varied = false;                   ///< lengths vary so much that batches are cut to their longest sequence
  /// Number of classes; the output is one of the tokens first_label ... ; 0: no classification
  std::int64_t labels = 0;
  std::int32_t first_label = 0;
  double examples = 0;                               ///< approximate number of different examples
  bool exact = false;                                ///< true: `examples` and `test_examples` are exact
  std::string enlarge;                               ///< the options to increase if there are too few examples
  std::function<void(RandomSource&, Example&)> draw; ///< overwrites the example with a random one
  /// Draws a test example, if the test has a different distribution without a common example with training; otherwise
  /// empty, and `draw` is used.
  std::function<void(RandomSource&, Example&)> draw_test;
  double test_examples = 0;             ///< approximate number of different test examples
  std::optional<ListedExamples> listed; ///< training uses a list, in epochs; there is no test
  /// @param ends  true if an end token is also a target
  std::function<Task::Chance(bool ends)> chance;
  /// The name of the option that sets the input length, and the same task with all inputs of a given length, which may
  /// be a length of training or of the test. Both are empty if there is no such option.
  std::string length_option = "";
  std::function<Generator(std::int64_t length)> of_length;
};

/// Writes 0 ... n - 1 to `to`: first `count` of them in a random order (a Fisher-Yates shuffle that stops after `count`
/// steps), then the others.
void draw_different(RandomSource& random, std::int64_t n, std::int64_t count, std::vector<std::int32_t>& to);

/// The minimum number of examples of a split. A smaller number is accepted if the configuration asks for it.
inline constexpr std::int64_t least_split = 16;

/// The task of a generator. A hash of an example's input under `Config::split_seed` determines its split: 8 of 10
/// belong to training, 1 to validation, 1 to test. Training sequences are redrawn until one belongs to training. The
/// evaluation sequences are `task.validation` and `task.test` different examples; if these options have their defaults,
/// fewer are accepted when no more exist. If examples are listed, a part of them, drawn by the split seed, is for
/// training, in epochs (TrainingOrder, or all in each step with [train] full_batch). All others are for validation.
/// Throws heed::Refused if there are too few examples, or if a split would have fewer than `least_split`.
std::unique_ptr<Task> generated_task(const Config& config, Generator generator);

/// The same for the generator that `generator_of` makes of the options in [task.KIND], which `table` reads.
template <auto table, auto generator_of> std::unique_ptr<Task> make_generated(const Config& config) {
  return generated_task(config, generator_of(table().read(config.task_options)));
}

/// The range of input lengths. All lengths in the range are equally likely.
struct Lengths {
  std::int64_t shortest = 0, longest = 0;
};

/// The input lengths by options `length` and `min_length` (0: equal to length) of table `task.KIND`. Throws
/// heed::Refused if min_length is greater than length.
Lengths input_lengths(const std::string& kind, std::int64_t length, std::int64_t min_length);

/// Sets `input` to symbols 0 ... symbols - 1. They are independent and equally likely. The length is drawn first.
void draw_symbols(RandomSource& random, const Lengths& lengths, std::int64_t symbols, std::vector<std::int32_t>& input);

/// The lengths of the test's inputs by option `test_length` of table `task.KIND`: length + 1 ... test_length, all
/// greater than those of training; empty if the option is 0. Throws heed::Refused if it is neither 0 nor greater than
/// length.
std::optional<Lengths> test_lengths(const std::string& kind, std::int64_t length, std::int64_t test_length);

/// Sets the draw functions and the numbers of different examples of a generator, given the input lengths. The test has
/// longer inputs if `test` is given.
void draw_by_lengths(Generator& generator, const Lengths& lengths, const std::optional<Lengths>& test,
                     const std::function<void(RandomSource&, const Lengths&, Example&)>& draw,
                     const std::function<double(const Lengths&)>& count);

/// Sets the function that gives the same task with inputs of one length. It calls `make` with the options, of which
/// `member`, the option `name`, is this length.
template <class Options, class Make>
void make_other_lengths(Generator& generator, const Options& options, const char* name, std::int64_t Options::*member,
                        Make make) {
  generator.length_option = name;
  generator.of_length = [=](std::int64_t length) {
    Options other = options;
    other.*member = length;
    return make(other);
  };
}

/// The same by `length`, without min_length and test_length.
template <class Options, class Make> void make_other_lengths(Generator& generator, const Options& options, Make make) {
  make_other_lengths(generator, options, "length", &Options::length, [=](Options other) {
    other.min_length = other.test_length = 0;
    return make(other);
  });
}

/// The number of different inputs that `draw_symbols` can give.
double count_inputs(const Lengths& lengths, std::int64_t symbols);

/// The chance level if outputs are independent, equally likely symbols, as drawn by `draw_symbols`. With `ends`, the
/// guesser only knows the distribution of the lengths (if all lengths are equal, it knows each end). S(t) is the
/// probability that the output has at least t symbols, and h(t) the probability that it ends at t if it has not ended
/// before:
///     accuracy  sum over t of S(t) max(h(t), (1 - h(t)) / s), divided by the mean number of targets
///     sequence  with `ends`: (1 / s)^n for the shortest n, times the fraction of outputs of length n;
///               without: the mean of (1 / s)^n over the lengths n
///     loss      the cross-entropy of the same guesser's probabilities
Task::Chance chance_of_symbols(const Lengths& lengths, std::int64_t symbols, bool ends);

/// The chance level for one of `labels` equally likely labels: "1 / values". End tokens are predicted with certainty,
/// and they are half of the targets of the loss. The accuracy only counts labels.
Task::Chance chance_of_label(std::int64_t labels, const std::string& what, bool ends);

/// The chance level for one label with the probabilities `shares`: the accuracy of always guessing the most frequent
/// label, and the loss of predicting these probabilities. `commonest` is the name of the most frequent label.
Task::Chance chance_of_shares(std::span<const double> shares, const std::string& commonest, bool ends);

/// The same for one label whose frequencies are `counts`.
Task::Chance chance_of_counts(std::span<const std::int64_t> counts, const std::string& commonest, bool ends);

/// The words "0", "1", ..., count - 1, each with `prefix` in front.
std::vector<std::string> number_words(std::int64_t count, const std::string& prefix = "");

} // namespace heed
