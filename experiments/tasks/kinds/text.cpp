// Task `text`: language modelling. Each token of a text file is predicted from the tokens before it.
#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/tasks/task_info.hpp"
#include "experiments/tasks/token_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

namespace heed {

extern const TaskInfo task_text;

namespace {

struct TextOptions {
  std::int64_t block = 64;
};

const OptionTable<TextOptions>& text_option_table() {
  static const auto table = option_table<TextOptions>(
      option("block", &TextOptions::block,
             "the number of tokens that a sequence predicts: the window of training and evaluation")
          .between(1, 1 << 20)
          .unit("tokens"));
  return table;
}

class TextTask final : public Task {
public:
  TextTask(const TextOptions& options, const DataOptions& data, const std::string& of_set)
      : text_(std::make_shared<const TokenText>(data, data_cache_place, of_set)), block_(options.block),
        of_set_(!of_set.empty()) {
    constexpr std::array<const char*, 3> names = {"training", "validation", "test"};
    files_ = {data.path, of_set.empty() ? data.validation_path : of_set, data.test_path};
    for (std::size_t i = 0; i < text_->parts().size(); ++i) {
      const bool own = i > 0 && !files_[i].empty();
      if (files_[i].empty()) files_[i] = data.path;
      const bool wanted = i != static_cast<std::size_t>(Split::test) || own || data.test > 0;
      if (!wanted || text_->parts()[i].size() > block_) continue;
      const std::string need = fmt::format("for the {} split, and a block of {} takes at least {}; take a longer text"
                                           "{} a smaller task.text.block",
                                           names[i], block_, block_ + 1, own ? " or" : ",");
      if (own)
        throw Refused(fmt::format("[data] {} \"{}\" is too short: it has {} {}s {}",
                                  i == 1 && !of_set.empty() ? "validation_sets:" : fmt::format("{}_path =", names[i]),
                                  files_[i], text_->parts()[i].size(), text_->noun(), need));
      const std::int64_t of_path = tokens_of_path(data);
      throw Refused(fmt::format("[data] path = \"{}\" is too short: with {}test = {} its {} {}s leave {} {} or other "
                                "fractions",
                                data.path,
                                data.validation_path.empty() ? fmt::format("train = {} and ", data.train) : "",
                                data.test, of_path, text_->noun(), text_->parts()[i].size(), need));
    }
  }

  std::string refuses(TaskFormat format) const override {
    if (format == TaskFormat::language_model) return {};
    if (format == TaskFormat::classification)
      return "the task text predicts the next token and has no label for a whole sequence; use a language model "
             "(model.kind = \"decoder\"), or a task with one label";
    return "the task text predicts the next token of a text and has neither pairs of texts nor images; use a language "
           "model (model.kind = \"decoder\")";
  }

  TaskSizes sizes(TaskFormat) const override {
    const std::int64_t vocabulary = text_->vocabulary().size();
    return {.vocabulary = vocabulary, .length = block_, .classes = vocabulary, .shared_vocabulary = true};
  }

  void training_sequence(TaskFormat, std::uint64_t seed, std::int64_t step, std::int64_t sequence, Batch& batch,
                         std::int64_t at) const override {
    write_random_window({seed, Stream::training_sequences, static_cast<std::uint64_t>(step)}, Split::train, sequence,
                        batch, at);
  }

  void training_sequence_lengths(TaskFormat, std::uint64_t, std::int64_t, std::int64_t, Batch& batch,
                                 std::int64_t at) const override {
    write_sequence_lengths(block_, batch, at);
  }

  void random_sequence(TaskFormat, Split split, std::uint64_t seed, std::int64_t step, std::int64_t sequence,
                       Batch& batch, std::int64_t at) const override {
    write_random_window({seed, Stream::random_evaluation, static_cast<std::uint64_t>(step)}, split, sequence, batch,
                        at);
  }

  std::int64_t evaluation_sequences(TaskFormat, Split split) const override {
    if (split == Split::train) return std::min(windows(part(Split::train)), windows(part(Split::validation)));
    return windows(part(split));
  }

  std::optional<std::int64_t> listed_sequences(TaskFormat, Split split) const override { return windows(part(split)); }

  void evaluation_sequence(TaskFormat, Split split, std::int64_t sequence, Batch& batch,
                           std::int64_t at) const override {
    write_window(part(split).begin + sequence * block_, evaluated_tokens(split, sequence), batch, at);
  }

  void evaluation_sequence_lengths(TaskFormat, Split split, std::int64_t sequence, Batch& batch,
                                   std::int64_t at) const override {
    write_sequence_lengths(evaluated_tokens(split, sequence), batch, at);
  }

  void require_whole() const override { text_->require_whole(); }

  /// The accuracy on the validation split of always predicting the training split's most frequent token.
  Chance chance(TaskFormat) const override {
    const std::span<const std::int64_t> seen = text_->counts(0), validation = text_->counts(1);
    const auto commonest = static_cast<std::int32_t>(std::ranges::max_element(seen) - seen.begin());
    return {static_cast<double>(validation[static_cast<std::size_t>(commonest)]) /
                static_cast<double>(part(Split::validation).size()),
            fmt::format("always {}, the commonest {} of the training split", text_->vocabulary().show(commonest),
                        text_->noun()),
            std::nullopt, loss_by_frequencies(seen, validation, text_->noun() + "s")};
  }

  std::string own_fingerprint() const override { return text_->fingerprint(); }

  Facts facts() const override {
    Facts facts{.unit = text_->noun() + "s", .sizes = {}, .files = files_, .notes = text_->notes()};
    for (std::size_t i = 0; i < facts.sizes.size(); ++i) facts.sizes[i] = text_->parts()[i].size();
    return facts;
  }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> out = {text_->warning(of_set_), look_alike_warning(text_->vocabulary())};
    std::erase(out, "");
    return out;
  }

  std::string decode(std::span<const std::int32_t> tokens) const override { return text_->vocabulary().decode(tokens); }

  std::int32_t unknown_input() const override { return text_->vocabulary().unknown(); }

  std::string token_text(std::int32_t token) const override { return text_->vocabulary().label(token); }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    text_->vocabulary().encode(text, tokens);
    return tokens;
  }

private:
  /// The same text, with windows of `block` tokens.
  TextTask(const TextTask& whole, std::int64_t block) : text_(whole.text_), block_(block), files_(whole.files_) {
    const std::int64_t there_are = part(Split::validation).size();
    if (there_are <= block)
      throw Refused(fmt::format("the validation split of [data] path = \"{}\" has {} {}s, and a window of {} takes at "
                                "least {}",
                                files_[1], there_are, text_->noun(), block, block + 1));
  }

  std::unique_ptr<Task> make_of_length(std::int64_t length) const override {
    return std::unique_ptr<Task>(new TextTask(*this, length));
  }

  const TextPart& part(Split split) const { return text_->parts()[static_cast<std::size_t>(split)]; }

  /// The number of windows that together predict every token of the part exactly once, except its first.
  std::int64_t windows(const TextPart& part) const { return part.size() < 2 ? 0 : (part.size() - 2) / block_ + 1; }

  /// The number of tokens that window `sequence` predicts. The last window may predict fewer.
  std::int64_t evaluated_tokens(Split split, std::int64_t sequence) const {
    return std::min(block_, part(split).size() - 1 - sequence * block_);
  }

  /// Writes a window from a random position in the part.
  void write_random_window(const RandomKey& key, Split split, std::int64_t sequence, Batch& batch,
                           std::int64_t at) const {
    const auto starts = static_cast<std::uint64_t>(part(split).size() - block_);
    const auto start = static_cast<std::int64_t>(below(key, static_cast<std::uint64_t>(sequence), starts));
    write_window(part(split).begin + start, block_, batch, at);
  }

  void write_window(std::int64_t begin, std::int64_t size, Batch& batch, std::int64_t at) const {
    const std::int64_t sequence = begin_sequence(size, batch, at);
    text_->copy(begin, size, batch.tokens.data() + sequence);
    text_->copy(begin + 1, size, batch.targets.data() + sequence);
  }

  /// Writes a window whose tokens and targets are all token 0. Only its length is meaningful.
  static void write_sequence_lengths(std::int64_t size, Batch& batch, std::int64_t at) {
    const std::int64_t sequence = begin_sequence(size, batch, at);
    std::fill_n(batch.tokens.begin() + sequence, size, 0);
    std::fill_n(batch.targets.begin() + sequence, size, 0);
  }

  /// The offset of the sequence's tokens and targets in the batch. Sets the sequence's length to `size`.
  static std::int64_t begin_sequence(std::int64_t size, Batch& batch, std::int64_t at) {
    if (at < 0 || at >= batch.sequences || size > batch.length)
      throw Failed(fmt::format("[task.text] a window of {} tokens does not fit as sequence {} of a batch [{}, {}]",
                               size, at, batch.sequences, batch.length));
    batch.lengths[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(size);
    return at * batch.length;
  }

  /// The number of tokens in the file data.path.
  std::int64_t tokens_of_path(const DataOptions& data) const {
    std::int64_t count = text_->parts()[0].size();
    if (data.validation_path.empty()) count += text_->parts()[1].size();
    if (data.test_path.empty()) count += text_->parts()[2].size();
    return count;
  }

  std::shared_ptr<const TokenText> text_;
  std::int64_t block_;
  bool of_set_;                      // validation is a further set
  std::array<std::string, 3> files_; // indexed by Split
};

std::unique_ptr<Task> make_text(const Config& config) {
  return std::make_unique<TextTask>(text_option_table().read(config.task_options), config.data, config.of_set);
}

} // namespace

const TaskInfo task_text = {
    {.name = "text",
     .summary = "the characters, bytes, words or pieces of the file data.path: each token is predicted from the tokens "
                "before it",
     .paper = "as in Karpathy 2015, char-rnn; evaluation reads the whole split once, in windows that do not overlap",
     .cost = "memory: 1 byte for each token, or 2 if there are more than 256 different tokens; a sequence is "
             "task.text.block tokens",
     .options = text_option_table().options(),
     .disables = {"task.seed", "task.validation", "task.test", "data.split_seed"},
     .needs = {"data.path"},
     .uses = {"data.train", "data.test", "data.tokens", "train.evaluate_lengths"}},
    make_text,
    true};

} // namespace heed
