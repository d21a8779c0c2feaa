#include "experiments/tasks/listed_task.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/normal_form.hpp"
#include "experiments/data/training_order.hpp"
#include "experiments/tasks/example_sequence.hpp"
#include "experiments/tasks/vocabulary_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace heed {

namespace {

constexpr Split splits[] = {Split::train, Split::validation, Split::test};
/// The text of the begin and end tokens in a language model's sequences.
constexpr std::string_view begin_word = "<begin>", end_word = "<end>";

const char* split_name(Split split) {
  return split == Split::train ? "training" : split == Split::validation ? "validation" : "test";
}

/// The cost of each sequence in any format: its input and output tokens.
std::vector<std::int32_t> example_lengths(const ExampleList& examples) {
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; i < examples.size(); ++i)
    lengths.push_back(static_cast<std::int32_t>(examples.input(i).size() + examples.output(i).size()));
  return lengths;
}

/// The padded length of each sequence. classification: input; language_model: input and output; sequence_to_sequence:
/// the longer of the two.
std::vector<std::int32_t> padded_lengths(const ExampleList& examples, TaskFormat format) {
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; i < examples.size(); ++i) {
    const auto input = std::ssize(examples.input(i)), output = std::ssize(examples.output(i)) + 1;
    lengths.push_back(static_cast<std::int32_t>(format == TaskFormat::classification   ? input
                                                : format == TaskFormat::language_model ? input + output
                                                                                       : std::max(input, output)));
  }
  return lengths;
}

class ListedTask final : public Task {
public:
  ListedTask(const Config& config, Dataset dataset)
      : data_(std::move(dataset)), seed_(config.split_seed()),
        order_(example_lengths(list(Split::train)),
               config.train.full_batch ? std::max<std::int64_t>(list(Split::train).size(), 1) : config.train.batch,
               config.train.full_batch ? 1 : config.data.bucket),
        full_batch_(config.train.full_batch), tokens_(config.data.tokens), of_set_(!config.of_set.empty()) {
    for (const Split split : splits) {
      const std::string& file = data_.files[static_cast<std::size_t>(split)];
      // A test split that shares a file with training may be empty.
      if (list(split).size() > 0 || (split == Split::test && file == data_.files[0])) continue;
      throw Refused(fmt::format("[task.{}] the {} split has no example{}: training has {}, validation {}, test {}",
                                data_.name, split_name(split), file.empty() ? "" : " (" + file + ")",
                                list(Split::train).size(), list(Split::validation).size(), list(Split::test).size()));
    }
    for (const Split split : splits)
      for (std::int64_t i = 0; i < list(split).size(); ++i) {
        const auto input = std::ssize(list(split).input(i)), output = std::ssize(list(split).output(i));
        longest_.take(input, output);
        if (split == Split::train) longest_trained_.take(input, output);
      }
    if (config.train.batch_tokens > 0)
      for (const TaskFormat format :
           {TaskFormat::language_model, TaskFormat::sequence_to_sequence, TaskFormat::classification})
        token_batches_.emplace_back(padded_lengths(list(Split::train), format), config.train.batch_tokens);
    if (const std::string why = problem(); !why.empty()) throw Refused(why); // nothing was computed with the data yet
  }

  std::string refuses(TaskFormat format) const override {
    if (format == TaskFormat::image_classification)
      return fmt::format("the task {} has text, but the model reads images; use a task of images", data_.name);
    if (labelled() && format != TaskFormat::classification)
      return fmt::format("the task {} has a label for each text, but the model outputs a sequence; use a classifier "
                         "(model.kind = \"encoder\")",
                         data_.name);
    if (!labelled() && format == TaskFormat::classification)
      return fmt::format("the output of the task {} is a sequence, but a classifier gives one label for a sequence; "
                         "use a language model (model.kind = \"decoder\")",
                         data_.name);
    return {};
  }

  TaskSizes sizes(TaskFormat format) const override { return sizes_for(format, longest_); }
  TaskSizes training_sizes(TaskFormat format) const override { return sizes_for(format, longest_trained_); }

  void training_sequence(TaskFormat format, std::uint64_t seed, std::int64_t step, std::int64_t sequence, Batch& batch,
                         std::int64_t at) const override {
    const TokenBatches* by_tokens = token_batches(format);
    write(format, list(Split::train),
          by_tokens ? by_tokens->example(seed, step, sequence) : order_.example(seed, step, sequence), batch, at);
  }

  std::int64_t training_sequences(TaskFormat format, std::uint64_t seed, std::int64_t step) const override {
    const TokenBatches* by_tokens = token_batches(format);
    return by_tokens ? by_tokens->sequences(seed, step) : full_batch_ ? list(Split::train).size() : 0;
  }

  std::int64_t evaluation_sequences(TaskFormat, Split split) const override {
    return split == Split::train ? std::min(list(split).size(), list(Split::validation).size()) : list(split).size();
  }

  void evaluation_sequence(TaskFormat format, Split split, std::int64_t sequence, Batch& batch,
                           std::int64_t at) const override {
    // A random part of training, because its first examples may not be representative.
    if (split == Split::train)
      sequence = static_cast<std::int64_t>(permuted({seed_, Stream::evaluation_sequences, 0},
                                                    static_cast<std::uint64_t>(sequence),
                                                    static_cast<std::uint64_t>(list(split).size())));
    write(format, list(split), sequence, batch, at);
  }

  std::optional<std::int64_t> listed_sequences(TaskFormat, Split split) const override { return list(split).size(); }

  void listed_sequence(TaskFormat format, Split split, std::int64_t sequence, Batch& batch,
                       std::int64_t at) const override {
    write(format, list(split), sequence, batch, at);
  }

  void require_whole() const override {
    if (const std::string why = problem(); !why.empty()) throw Failed(why);
  }

  std::optional<Reference> reference(Split split, std::int64_t sequence) const override {
    const auto& references = data_.references[static_cast<std::size_t>(split)];
    return references.empty() ? std::nullopt : std::optional(references.at(static_cast<std::size_t>(sequence)));
  }

  std::int32_t unknown_input() const override { return data_.input->unknown(); }

  bool is_unknown_output(std::int32_t token) const override {
    return !labelled() && token >= 0 && token == data_.output->unknown();
  }

  Chance chance(TaskFormat) const override { return data_.chance; }
  std::string own_fingerprint() const override { return data_.fingerprint; }

  Facts facts() const override {
    Facts facts{.unit = "examples", .sizes = {}, .files = data_.files, .notes = data_.notes};
    for (const Split split : splits) facts.sizes[static_cast<std::size_t>(split)] = list(split).size();
    return facts;
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> out;
    const auto add = [&](std::string warning) {
      if (!warning.empty()) out.push_back(std::move(warning));
    };
    const std::string words = token_noun(tokens_) + "s";
    add(unknown_warning(labelled() ? words : words + " of inputs", *data_.input, &ExampleList::input));
    if (!labelled()) add(unknown_warning(words + " of outputs", *data_.output, &ExampleList::output));
    add(look_alike_warning(*data_.input));
    if (labelled())
      add(look_alike_warning([&](const auto& use) { std::ranges::for_each(data_.labels, use); }, "label"));
    else if (data_.output != data_.input) add(look_alike_warning(*data_.output));
    return out;
  }

  /// The text of input tokens, or of the tokens of a language model's sequences.
  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() || part.empty() ? "" : " ") + part; };
    // Decodes runs of tokens that belong to the same vocabulary.
    for (std::size_t i = 0; i < tokens.size();) {
      if (special(tokens[i])) {
        add(std::string(tokens[i] == offset() + begin() ? begin_word : end_word));
        ++i;
        continue;
      }
      const bool of_output = is_output(tokens[i]);
      std::vector<std::int32_t> run;
      for (; i < tokens.size() && is_output(tokens[i]) == of_output && !special(tokens[i]); ++i)
        run.push_back(tokens[i] - (of_output ? offset() : 0));
      add((of_output ? data_.output : data_.input)->decode(run));
    }
    return text;
  }

  std::string decode_output(TaskFormat format, std::span<const std::int32_t> tokens) const override {
    if (format == TaskFormat::language_model) return decode(tokens);
    if (format == TaskFormat::classification) {
      std::string text;
      for (const std::int32_t label : tokens) text += (text.empty() ? "" : " ") + label_of(label);
      return text;
    }
    if (!tokens.empty() && tokens.front() == begin()) tokens = tokens.subspan(1);
    return data_.output->decode(tokens.first(static_cast<std::size_t>(std::ranges::find(tokens, end()) -
                                                                      tokens.begin())));
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    const std::size_t middle = labelled() ? text.npos : text.find(begin_word);
    data_.input->encode(text.substr(0, middle), tokens);
    if (middle == text.npos) return tokens;
    tokens.push_back(offset() + begin());
    const std::size_t inputs = tokens.size();
    data_.output->encode(text.substr(middle + begin_word.size()), tokens);
    for (std::size_t i = inputs; i < tokens.size(); ++i) tokens[i] += offset();
    return tokens;
  }

  std::vector<std::int32_t> encode_output(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    (labelled() ? data_.input : data_.output)->encode(text, tokens);
    return tokens;
  }

  std::string token_text(std::int32_t token) const override {
    return is_output(token) || special(token) ? output_token_text(token - offset()) : data_.input->label(token);
  }

  std::string output_token_text(std::int32_t token) const override {
    if (token == begin()) return std::string(begin_word);
    return token == end() ? std::string(end_word) : data_.output->label(token);
  }

private:
  /// The number of tokens of the longest input, the longest output, and the longest example.
  struct Longest {
    std::int64_t input = 1, output = 0, both = 1;

    void take(std::int64_t of_input, std::int64_t of_output) {
      input = std::max(input, of_input);
      output = std::max(output, of_output);
      both = std::max(both, of_input + of_output);
    }
  };

  TaskSizes sizes_for(TaskFormat format, const Longest& longest) const {
    if (format == TaskFormat::classification)
      return {.vocabulary = data_.input->size(),
              .length = longest.input,
              .classes = std::ssize(data_.labels),
              .varied = true};
    const std::int64_t outputs = data_.output->size() + 2;
    if (format == TaskFormat::language_model)
      return {.vocabulary = offset() + outputs,
              .length = longest.both + 1,
              .classes = offset() + outputs,
              .begin = offset() + begin(),
              .end = offset() + end(),
              .shared_vocabulary = true,
              .varied = true,
              .one_token_outputs = longest_.output == 1};
    return {.vocabulary = shared() ? outputs : data_.input->size(),
            .length = longest.input,
            .classes = outputs,
            .output_length = longest.output + 1,
            .begin = begin(),
            .end = end(),
            .shared_vocabulary = shared(),
            .varied = true,
            .one_token_outputs = longest_.output == 1};
  }

  const ExampleList& list(Split split) const { return data_.examples[static_cast<std::size_t>(split)]; }
  std::string problem() const { return data_.kept ? data_.kept->problem() : std::string(); }
  bool labelled() const { return !data_.labels.empty(); }
  bool shared() const { return data_.input == data_.output; }
  const TokenBatches* token_batches(TaskFormat format) const {
    return token_batches_.empty() ? nullptr : &token_batches_.at(static_cast<std::size_t>(format));
  }
  /// The offset of an output's tokens in a language model's sequences.
  std::int32_t offset() const { return labelled() || shared() ? 0 : static_cast<std::int32_t>(data_.input->size()); }
  std::int32_t begin() const { return static_cast<std::int32_t>(data_.output->size()); }
  std::int32_t end() const { return begin() + 1; }
  /// True if the token of a language model's sequence belongs to the output's own vocabulary.
  bool is_output(std::int32_t token) const { return offset() > 0 && token >= offset(); }
  bool special(std::int32_t token) const {
    return !labelled() && (token == offset() + begin() || token == offset() + end());
  }

  /// The share of validation's tokens that are outside the vocabulary, if it is large; else empty.
  std::string unknown_warning(const std::string& what, const Vocabulary& vocabulary,
                              std::span<const std::int32_t> (ExampleList::*part)(std::int64_t) const) const {
    std::array<UnknownTokens, 3> unknown;
    const ExampleList& examples = list(Split::validation);
    for (std::int64_t i = 0; i < examples.size() && vocabulary.unknown() >= 0; ++i)
      unknown[1].add((examples.*part)(i), vocabulary.unknown());
    return unknown[1].share() < many_unknown ? "" : unknown_note(what, unknown, of_set_);
  }

  const std::string& label_of(std::int32_t label) const {
    if (label < 0 || label >= std::ssize(data_.labels))
      throw Failed(fmt::format("[task.{}] label {} does not exist: there are {}", data_.name, label,
                               data_.labels.size()));
    return data_.labels[static_cast<std::size_t>(label)];
  }

  void write(TaskFormat format, const ExampleList& examples, std::int64_t i, Batch& batch, std::int64_t at) const {
    SequenceTokens with{.task = data_.name};
    std::span<const std::int32_t> output = examples.output(i);
    if (labelled()) return write_example(with, format, examples.input(i), output, batch, at);
    const bool joined = format == TaskFormat::language_model;
    with.begin = with.separator = begin() + (joined ? offset() : 0);
    with.end = end() + (joined ? offset() : 0);
    thread_local std::vector<std::int32_t> renumbered; // its memory is reused for all sequences
    if (joined && offset() > 0) {
      renumbered.assign(output.begin(), output.end());
      for (std::int32_t& token : renumbered) token += offset();
      output = renumbered;
    }
    write_example(with, format, examples.input(i), output, batch, at, examples.counts(i));
  }

  Dataset data_;
  std::uint64_t seed_;
  TrainingOrder order_;
  bool full_batch_;                         // each step uses the whole order
  std::string tokens_;                      // [data] tokens
  bool of_set_;                             // validation has the sequences of a further set
  std::vector<TokenBatches> token_batches_; // by TaskFormat, if batches are limited by tokens
  Longest longest_, longest_trained_;       // of all splits; of training
};

} // namespace

std::unique_ptr<Task> listed_task(const Config& config, Dataset dataset) {
  return std::make_unique<ListedTask>(config, std::move(dataset));
}

Task::Chance commonest_output_token(const Dataset& dataset) {
  // The end token has the number after the vocabulary's last token.
  std::vector<std::int64_t> seen(static_cast<std::size_t>(dataset.output->size()) + 1);
  const auto count = [](const ExampleList& examples, auto use) {
    for (std::int64_t i = 0; i < examples.size(); ++i) {
      const auto output = examples.output(i), counts = examples.counts(i);
      for (std::size_t t = 0; t < output.size(); ++t)
        if (counts.empty() || counts[t]) use(static_cast<std::size_t>(output[t]));
    }
  };
  const ExampleList& training = dataset.examples[0];
  const ExampleList& validation = dataset.examples[1];
  bool ends = false; // true if accuracy counts end tokens
  for (const ExampleList& examples : dataset.examples)
    for (std::int64_t i = 0; i < examples.size(); ++i) ends = ends || examples.output(i).size() > 1;
  count(training, [&](std::size_t token) { ++seen[token]; });
  seen.back() = ends ? training.size() : 0;
  const auto commonest = static_cast<std::size_t>(std::ranges::max_element(seen) - seen.begin());
  const bool is_end = commonest + 1 == seen.size();
  std::int64_t all = ends ? validation.size() : 0, hits = is_end ? validation.size() : 0;
  count(validation, [&](std::size_t token) {
    ++all;
    hits += token == commonest;
  });
  return {static_cast<double>(hits) / static_cast<double>(std::max<std::int64_t>(all, 1)),
          fmt::format("always {}, the commonest output token of the training split",
                      is_end ? "the end" : dataset.output->show(static_cast<std::int32_t>(commonest)))};
}

} // namespace heed
