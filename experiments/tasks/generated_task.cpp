#include "experiments/tasks/generated_task.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/config/values.hpp"
#include "experiments/data/training_order.hpp"
#include "experiments/system/text.hpp"
#include "experiments/tasks/example_sequence.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace heed {

namespace {

std::string show(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  throw Failed("a generated task's options are numbers, words and flags");
}

std::string show(const OptionValues& options) {
  return joined(options, ", ", [](const auto& option) { return option.first + " = " + show(option.second); });
}

/// The options in the fingerprint: those that differ from their defaults. So an option that is added to a task leaves
/// the fingerprints of data without it.
std::string identifying_options(const Generator& generator) {
  const TaskInfo* task = find_variant(task_kinds(), generator.name);
  const std::string text = show(task ? without_defaults(task->about.options, generator.options) : generator.options);
  return text.empty() ? "default options" : text;
}

class GeneratedTask final : public Task {
public:
  /// @param any_number  accept any number of examples, as long as validation has one
  GeneratedTask(Generator generator, const TaskOptions& options, std::uint64_t split_seed, const TrainOptions& train,
                bool any_number = false)
      : generator_(std::move(generator)), options_(options), train_(train),
        seed_(static_cast<std::uint64_t>(options.seed)),
        split_seed_(split_seed), wanted_{options.validation, options.validation, options.test} {
    for (std::size_t i = 0; i < generator_.words.size(); ++i)
      token_of_word_[generator_.words[i]] = static_cast<std::int32_t>(i);
    trained_input_ = generator_.longest_input;
    trained_output_ = generator_.longest_output;
    if (generator_.draw_test) { // only the test has the longest sequences: training's are those of the option's length
      const Value& length = generator_.options.at(generator_.length_option);
      const Generator trained = generator_.of_length(std::get<std::int64_t>(length));
      trained_input_ = trained.longest_input;
      trained_output_ = trained.longest_output;
    }
    if (generator_.listed) {
      cut_list(*generator_.listed);
      const auto sequences = static_cast<std::size_t>(list(Split::train).size());
      full_batch_ = train.full_batch;
      order_.emplace(std::vector<std::int32_t>(sequences), full_batch_ ? list(Split::train).size() : train.batch, 1);
      return;
    }
    for (const Split split : {Split::train, Split::validation, Split::test}) list(split) = collect(split);
    if (any_number) {
      if (list(Split::validation).size() == 0)
        throw Refused(fmt::format("[task.{}] {} gives only {:.0f} different examples, and validation has none of them",
                                  generator_.name, show(generator_.options), generator_.examples));
      return;
    }
    for (const Split split : {Split::train, Split::validation, Split::test})
      if (list(split).size() < std::min(least_split, wanted(split))) refuse_few_examples();
    // The default sizes are not a request: fewer examples are accepted if no more exist.
    for (const Split split : {Split::validation, Split::test})
      if (list(split).size() < wanted(split) && wanted(split) != default_size(split)) refuse_wish(split);
  }

  std::string refuses(TaskFormat format) const override {
    if (format == TaskFormat::image_classification)
      return fmt::format("the task {} has tokens, but the model reads images; use a task of images", generator_.name);
    if (generator_.places && format != TaskFormat::language_model)
      return fmt::format("the targets of the task {} are at positions within one sequence, and only a language model "
                         "predicts at each position (model.kind = \"decoder\")",
                         generator_.name);
    if (format != TaskFormat::classification || generator_.labels > 0) return {};
    return fmt::format("the output of the task {} is a sequence, but a classifier gives one label for a sequence; use "
                       "a language model (model.kind = \"decoder\"), or a task with one label: recall, parity, "
                       "modular_addition, modular_arithmetic, listops",
                       generator_.name);
  }

  TaskSizes sizes(TaskFormat format) const override {
    return sizes_for(format, generator_.longest_input, generator_.longest_output);
  }
  TaskSizes training_sizes(TaskFormat format) const override {
    return sizes_for(format, trained_input_, trained_output_);
  }

  void training_sequence(TaskFormat format, std::uint64_t seed, std::int64_t step, std::int64_t sequence, Batch& batch,
                         std::int64_t at) const override {
    if (order_) return evaluation_sequence(format, Split::train, order_->example(seed, step, sequence), batch, at);
    thread_local Example example; // its memory is reused for all sequences and is large enough for the longest
    example.input.reserve(static_cast<std::size_t>(generator_.longest_input));
    example.output.reserve(static_cast<std::size_t>(std::max(generator_.longest_input, generator_.longest_output)));
    RandomSource random({seed, Stream::training_sequences, static_cast<std::uint64_t>(step)},
                        static_cast<std::uint64_t>(sequence) << 32);
    do generator_.draw(random, example);
    while (split_of(hash(example)) != Split::train);
    write(format, example.input, example.output, batch, at);
  }

  std::int64_t training_sequences(TaskFormat, std::uint64_t, std::int64_t) const override {
    return full_batch_ ? list(Split::train).size() : 0;
  }

  std::int64_t evaluation_sequences(TaskFormat, Split split) const override {
    return order_ && split == Split::train ? std::min(list(split).size(), list(Split::validation).size())
                                           : list(split).size();
  }

  std::optional<std::int64_t> listed_sequences(TaskFormat, Split split) const override {
    return split == Split::train && !order_ ? std::nullopt : std::optional(list(split).size());
  }

  void evaluation_sequence(TaskFormat format, Split split, std::int64_t sequence, Batch& batch,
                           std::int64_t at) const override {
    const ExampleList& examples = list(split);
    write(format, examples.input(sequence), examples.output(sequence), batch, at);
  }

  Chance chance(TaskFormat format) const override {
    return generator_.chance(format == TaskFormat::sequence_to_sequence ||
                             (format == TaskFormat::language_model && generator_.ends));
  }

  Facts facts() const override {
    Facts facts{
        .unit = "examples",
        .sizes = {order_ ? list(Split::train).size() : -1, list(Split::validation).size(), list(Split::test).size()},
        .notes = {fmt::format("there are about {:.3g} different examples in all", generator_.examples)}};
    if (order_) facts.notes.push_back("there is no test: all examples outside of training are for validation");
    for (const Split split : {Split::validation, Split::test})
      if (!order_ && list(split).size() < wanted(split))
        facts.notes.push_back(fmt::format("{0} has all {1} examples that are for it: fewer than task.{0}, {2}",
                                          name_of(split), list(split).size(), wanted(split)));
    return facts;
  }

  std::string own_fingerprint() const override {
    const std::string split = split_seed_ == seed_ ? "" : fmt::format(", split seed = {}", split_seed_);
    if (order_)
      return fmt::format("{} {}: {}; seed = {}{}", generator_.name, generator_.version, identifying_options(generator_),
                         seed_, split);
    return fmt::format("{} {}: {}; seed = {}{}, validation = {}, test = {}", generator_.name, generator_.version,
                       identifying_options(generator_), seed_, split, wanted(Split::validation), wanted(Split::test));
  }

  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    for (const std::int32_t token : tokens) {
      if (token == end() && generator_.ends) {
        text += " <end>";
        continue;
      }
      if (token < 0 || static_cast<std::size_t>(token) >= generator_.words.size())
        throw Failed(fmt::format("[task.{}] token {} does not exist: there are {}", generator_.name, token,
                                 generator_.words.size()));
      text += (text.empty() ? "" : " ") + generator_.words[static_cast<std::size_t>(token)];
    }
    return text;
  }

  std::string decode_output(TaskFormat format, std::span<const std::int32_t> tokens) const override {
    if (format == TaskFormat::classification) {
      std::vector<std::int32_t> labels(tokens.begin(), tokens.end());
      for (std::int32_t& label : labels) label += generator_.first_label;
      return decode(labels);
    }
    if (format != TaskFormat::sequence_to_sequence && !generator_.ends) return decode(tokens);
    if (!tokens.empty() && tokens.front() == begin()) tokens = tokens.subspan(1);
    return decode(tokens.first(static_cast<std::size_t>(std::ranges::find(tokens, end()) - tokens.begin())));
  }

  std::string token_text(std::int32_t token) const override {
    return token == begin() ? "<begin>" : token == end() ? "<end>" : decode({&token, 1});
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    constexpr std::string_view space = " \t\r\n";
    std::vector<std::int32_t> tokens;
    for (std::size_t begin = text.find_first_not_of(space); begin != text.npos;) {
      const std::size_t end = std::min(text.find_first_of(space, begin), text.size());
      tokens.push_back(token_of(std::string(text.substr(begin, end - begin))));
      begin = text.find_first_not_of(space, end);
    }
    return tokens;
  }

private:
  TaskSizes sizes_for(TaskFormat format, std::int64_t longest_input, std::int64_t longest_output) const {
    const auto vocabulary = static_cast<std::int64_t>(generator_.words.size());
    if (format == TaskFormat::classification)
      return {.vocabulary = vocabulary,
              .length = longest_input,
              .classes = generator_.labels,
              .varied = generator_.varied || generator_.draw_test};
    if (format == TaskFormat::sequence_to_sequence)
      return {.vocabulary = vocabulary + 2,
              .length = longest_input,
              .classes = vocabulary + 2,
              .output_length = longest_output + 1,
              .begin = begin(),
              .end = end(),
              .shared_vocabulary = true,
              .varied = true,
              .one_token_outputs = longest_output == 1};
    if (generator_.places)
      return {.vocabulary = vocabulary,
              .length = longest_input,
              .classes = vocabulary,
              .shared_vocabulary = true,
              .varied = true};
    const std::int64_t separators = generator_.separator ? 1 : 0, ends = generator_.ends ? 1 : 0;
    const std::int64_t tokens = vocabulary + 2 * ends;
    return {.vocabulary = tokens,
            .length = longest_input + separators + longest_output + ends - 1,
            .classes = tokens,
            .end = generator_.ends ? end() : no_token,
            .shared_vocabulary = true,
            .varied = generator_.varied || generator_.ends || generator_.draw_test,
            .one_token_outputs = longest_output == 1};
  }

  std::unique_ptr<Task> make_of_length(std::int64_t length) const override {
    if (!generator_.of_length) return nullptr;
    const std::vector<Option>& options = task_info(generator_.name).about.options;
    const auto option = std::ranges::find(options, generator_.length_option, &Option::name);
    const std::string wrong = wrong_value(*option, fmt::format("task.{}.{}", generator_.name, option->name), length);
    if (!wrong.empty()) throw Refused(wrong);
    return std::make_unique<GeneratedTask>(generator_.of_length(length), options_, split_seed_, train_, true);
  }

  // The format sequence_to_sequence has two more tokens after the words.
  std::int32_t begin() const { return static_cast<std::int32_t>(generator_.words.size()); }
  std::int32_t end() const { return begin() + 1; }

  ExampleList& list(Split split) { return lists_[static_cast<std::size_t>(split)]; }
  const ExampleList& list(Split split) const { return lists_[static_cast<std::size_t>(split)]; }
  static const char* name_of(Split split) { return split == Split::test ? "test" : "validation"; }
  static std::int64_t default_size(Split split) {
    return split == Split::test ? TaskOptions{}.test : TaskOptions{}.validation;
  }
  std::int64_t wanted(Split split) const { return wanted_[static_cast<std::size_t>(split)]; }

  std::uint64_t hash(const Example& example) const {
    return XXH3_64bits_withSeed(example.input.data(), example.input.size() * sizeof(std::int32_t), split_seed_);
  }

  static Split split_of(std::uint64_t hash) {
    const std::uint64_t tenth = scaled_below(hash, 10);
    return tenth < 8 ? Split::train : tenth == 8 ? Split::validation : Split::test;
  }

  /// Splits the list: training gets its fraction of all examples, and validation the others.
  void cut_list(const ListedExamples& all) {
    const std::int64_t training = std::llround(all.training * static_cast<double>(all.count));
    if (std::min(training, all.count - training) < least_split)
      throw Refused(fmt::format("[task.{}] train = {} leaves {} of the {} examples for training and {} for validation, "
                                "and each needs {}; take another share, or raise {}",
                                generator_.name, all.training, training, all.count, all.count - training, least_split,
                                generator_.enlarge));
    Example example;
    for (std::int64_t place = 0; place < all.count; ++place) {
      const RandomKey key{split_seed_, Stream::evaluation_sequences, 1};
      all.at(static_cast<std::int64_t>(permuted(key, static_cast<std::uint64_t>(place),
                                                static_cast<std::uint64_t>(all.count))),
             example);
      list(place < training ? Split::train : Split::validation).add(example.input, example.output);
    }
  }

  /// Draws as many different examples of a split as requested, or all that it has.
  ExampleList collect(Split split) {
    ExampleList examples;
    if (wanted(split) == 0) return examples;
    // One tenth of all draws belongs to each of the smaller splits. If a split has at least twice as many examples as
    // requested, one in two of these draws gives a new example. A split with fewer examples needs as many draws as a
    // coupon collector who wants all n coupons: about n ln n. This number of draws covers both: if examples are equally
    // likely, each is missed with a probability below e^-20.
    const bool own = split == Split::test && generator_.draw_test; // then no other split has any of these examples
    const auto& draw = own ? generator_.draw_test : generator_.draw;
    const auto enough = static_cast<double>(wanted(split));
    const double there_are = own ? generator_.test_examples : generator_.examples, most = std::min(enough, there_are);
    const auto draws = static_cast<std::int64_t>(20 * most * (std::log(most) + 10)) + 2000;
    // If a split may have fewer examples, most of these draws are useless, unless it is known when all examples have
    // been drawn.
    const bool known = !own && split_sizes_;
    constexpr double most_to_remember = 1 << 18;
    const bool meets_all = generator_.exact && !known && there_are < std::min(20 * enough, most_to_remember);
    const std::int64_t all = meets_all ? std::llround(there_are) : -1;
    const std::int64_t last = known ? std::min(wanted(split), (*split_sizes_)[static_cast<std::size_t>(split)])
                                    : wanted(split);
    RandomSource random({seed_, Stream::evaluation_sequences, static_cast<std::uint64_t>(split)});
    std::unordered_set<std::uint64_t> seen; // hashes of the split's examples; with meets_all, of all examples
    Example example;
    for (std::int64_t i = 0; i < draws && examples.size() < last && std::ssize(seen) != all; ++i) {
      draw(random, example);
      const std::uint64_t h = hash(example);
      const bool is_of_split = own || split_of(h) == split;
      if ((meets_all || is_of_split) && seen.insert(h).second && is_of_split)
        examples.add(example.input, example.output);
    }
    if (!own && std::ssize(seen) == all) {
      split_sizes_.emplace();
      for (const std::uint64_t h : seen) ++(*split_sizes_)[static_cast<std::size_t>(split_of(h))];
    }
    return examples;
  }

  [[noreturn]] void refuse_few_examples() const {
    throw Refused(fmt::format(
        "[task.{}] {} gives only {:.0f} different examples, too few for splits that share none: training would have "
        "{}, validation {} and test {}, and each needs {}; raise {}",
        generator_.name, show(generator_.options), generator_.examples, list(Split::train).size(),
        list(Split::validation).size(), list(Split::test).size(), least_split, generator_.enlarge));
  }

  [[noreturn]] void refuse_wish(Split split) const {
    const bool own = split == Split::test && generator_.draw_test;
    throw Refused(fmt::format(
        "[task] {0} = {1} is more than there is: of the {2:.0f} different examples that [task.{3}] {4} gives{5}, {6} "
        "are for the {7}; take {6} or fewer (task.{0}={6}), or raise {8}",
        name_of(split), wanted(split), own ? generator_.test_examples : generator_.examples, generator_.name,
        show(generator_.options), own ? " only for the test" : "", list(split).size(), name_of(split),
        generator_.enlarge));
  }

  void write(TaskFormat format, std::span<const std::int32_t> input, std::span<const std::int32_t> output, Batch& batch,
             std::int64_t at) const {
    if (generator_.places) return write_places(generator_.name, input, output, batch, at);
    write_example({.task = generator_.name,
                   .separator = generator_.separator.value_or(no_token),
                   .begin = begin(),
                   .end = format == TaskFormat::sequence_to_sequence || generator_.ends ? end() : no_token,
                   .first_label = generator_.first_label},
                  format, input, output, batch, at);
  }

  std::int32_t token_of(const std::string& word) const {
    if (const auto found = token_of_word_.find(word); found != token_of_word_.end()) return found->second;
    const std::vector<std::string>& words = generator_.words;
    std::string known;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (i < 12 || i + 2 >= words.size()) known += (i == 0 ? "" : " ") + words[i];
      else if (i == 12) known += " ...";
    throw Refused(fmt::format("\"{}\" is not a word of the task {}; its words, separated by spaces, are: {}", word,
                              generator_.name, known));
  }

  Generator generator_;
  std::int64_t trained_input_ = 0, trained_output_ = 0; // the longest of training's sequences
  TaskOptions options_;
  TrainOptions train_;
  std::uint64_t seed_, split_seed_;
  std::array<std::int64_t, 3> wanted_; // by Split
  std::array<ExampleList, 3> lists_;   // by Split
  // by Split: the number of existing examples, known once all were drawn
  std::optional<std::array<std::int64_t, 3>> split_sizes_;
  std::optional<TrainingOrder> order_; // if training is listed
  bool full_batch_ = false;            // each step uses the whole order
  std::unordered_map<std::string, std::int32_t> token_of_word_;
};

} // namespace

std::unique_ptr<Task> generated_task(const Config& config, Generator generator) {
  return std::make_unique<GeneratedTask>(std::move(generator), config.task, config.split_seed(), config.train);
}

} // namespace heed
