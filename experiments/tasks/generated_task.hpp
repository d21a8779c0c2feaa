// What the generated tasks share: splits without a common example, endless training rows, fixed evaluation rows, the
// two forms, and words for tokens. A task's own file says only what an example is.
#pragma once

#include "autograd/rng.hpp"
#include "experiments/tasks/task.hpp"
#include "options/options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// An example. The output must be a function of the input alone, which therefore decides the split. Where targets stand
/// at places of one row (Generator::places), the input is that row, and the output the target of each place, or
/// `ignored`.
struct Example {
  std::vector<std::int32_t> input, output;
  std::vector<std::int32_t> scratch; ///< room for a generator, so that drawing allocates nothing
};

/// All examples of a task that has few, one after another, for a training part that is listed.
struct ListedExamples {
  double training = 0; ///< option `train` of the task's table: the share of them that is for training
  std::int64_t count = 0;
  std::function<void(std::int64_t i, Example&)> at; ///< clears and fills example i
};

/// What a generated task is.
struct Generator {
  std::string name;               ///< the task's kind
  OptionValues options;           ///< what the examples depend on
  int version = 1;                ///< goes up whenever the same options give other examples
  std::vector<std::string> words; ///< of the tokens, none with a space in it
  std::int64_t longest_input = 0, longest_output = 0;
  std::optional<std::int32_t> separator; ///< put between input and output in the language-model form
  bool ends = false;                     ///< the language-model form ends outputs with a token, as their lengths vary
  bool places = false;                   ///< targets stand at places of one row: a language model's form alone
  bool varied = false;                   ///< lengths differ so much that batches are cut to their longest row
  std::int64_t labels = 0;               ///< the output is one of the tokens first_label ... ; 0: no classification
  std::int32_t first_label = 0;
  double examples = 0;                               ///< how many different ones there are, about
  bool exact = false;                                ///< not about: neither these, nor the test's
  std::string enlarge;                               ///< the options to raise where they are too few
  std::function<void(RandomSource&, Example&)> draw; ///< clears and fills the example
  /// The test's examples, where they are of another kind than training's and share none with them; else as `draw`.
  std::function<void(RandomSource&, Example&)> draw_test;
  double test_examples = 0;             ///< how many different ones of those there are, about
  std::optional<ListedExamples> listed; ///< training goes through a list, in epochs; there is no test
  /// @param ends  whether a token that ends the output is a target, too
  std::function<Task::Chance(bool ends)> chance;
  /// The option that says how long inputs are, and the same task with all inputs that long, training's or the test's;
  /// none where there is no such option.
  std::string length_option = "";
  std::function<Generator(std::int64_t length)> of_length;
};

/// The first `count` of 0 ... n - 1 in a random order: Fisher and Yates's shuffle, as far as it is needed; the others
/// follow in `to`.
void draw_different(RandomSource& random, std::int64_t n, std::int64_t count, std::vector<std::int32_t>& to);

/// The least that a split may have, where the configuration asks for as many.
inline constexpr std::int64_t least_split = 16;

/// The task of a generator. An example's split is decided by a hash of its input under `task.seed`: 8 of 10 belong to
/// training, 1 to validation, 1 to test. Training rows are drawn afresh until one belongs to training; the evaluation
/// rows are different examples, `task.validation` and `task.test` of them;
/// where these have their defaults, all that there are will do. Where examples are listed, a part of them drawn by
/// `task.seed` is for training, in epochs (TrainingOrder, or all in each step with [train] full_batch), and all others
/// are for validation.
/// Throws heed::Refused where there are fewer, and where a split would have fewer than `least_split`.
std::unique_ptr<Task> generated_task(const Config& config, Generator generator);

/// The lengths that an input may have, each as likely as the others.
struct Lengths {
  std::int64_t shortest = 0, longest = 0;
};

/// Options `length` and `min_length` (0: the length) of table `task.KIND`; throws heed::Refused where min_length is
/// above length.
Lengths input_lengths(const std::string& kind, std::int64_t length, std::int64_t min_length);

/// Sets `input` to symbols 0 ... symbols - 1, independent and equally likely, of a length drawn first.
void draw_symbols(RandomSource& random, const Lengths& lengths, std::int64_t symbols, std::vector<std::int32_t>& input);

/// Option `test_length` of table `task.KIND`: the lengths of the test's inputs, all above those of training: length + 1
/// ... test_length; none where it is 0. Throws heed::Refused where it is neither 0 nor above length.
std::optional<Lengths> test_lengths(const std::string& kind, std::int64_t length, std::int64_t test_length);

/// Sets what a generator draws, and how many different examples there are, by the lengths of inputs; the test has longer
/// ones where `test` is given.
void draw_by_lengths(Generator& generator, const Lengths& lengths, const std::optional<Lengths>& test,
                     const std::function<void(RandomSource&, const Lengths&, Example&)>& draw,
                     const std::function<double(const Lengths&)>& count);

/// Sets how the same task is made with inputs that are all of one length: by `make`, from options with that `length`, and
/// without min_length and test_length.
template <class Options, class Make> void make_other_lengths(Generator& generator, const Options& options, Make make) {
  generator.length_option = "length";
  generator.of_length = [=](std::int64_t length) {
    Options other = options;
    other.length = length;
    other.min_length = other.test_length = 0;
    return make(other);
  };
}

/// How many inputs `draw_symbols` can give.
double count_inputs(const Lengths& lengths, std::int64_t symbols);

/// Chance where outputs are independent, equally likely symbols, as `draw_symbols` gives them. With ends, of which the
/// guesser knows as much as the lengths say (where all are equally long, everything):
///     accuracy  sum over places t of max(h, (1 - h) / s), over the mean count of targets; h: that it ends at t, if not before
///     sequence  (1 / s)^n, of the shortest n and its share with ends; else its mean over the lengths
///     loss      of the same guesser, by its probabilities
Task::Chance chance_of_symbols(const Lengths& lengths, std::int64_t symbols, bool ends);

/// Chance of one of so many equally likely labels, "1 / values". Ends are sure, and so are half of the loss's targets; the
/// accuracy is of labels alone.
Task::Chance chance_of_label(std::int64_t labels, const std::string& what, bool ends);

/// Chance of one label where they occur as often as `counts` says: always the commonest, and the loss of these
/// frequencies. `commonest` says which that is, in words.
Task::Chance chance_of_counts(std::span<const std::int64_t> counts, const std::string& commonest, bool ends);

/// The words "0", "1", ..., count - 1 of them, each after `prefix`.
std::vector<std::string> number_words(std::int64_t count, const std::string& prefix = "");

} // namespace heed
