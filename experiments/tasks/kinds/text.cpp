// Task `text`: the characters of a file, each predicted from those before it.
#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/tasks/task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace heed {

extern const TaskInfo task_text;

namespace {

struct TextOptions {
  std::int64_t block = 64;
  std::string tokens = "characters";
};

const OptionTable<TextOptions>& text_option_table() {
  static const auto table = option_table<TextOptions>(
      option("block", &TextOptions::block, "how many characters a row predicts: the window of training and evaluation")
          .at_least(1).at_most(1 << 20).unit("characters"),
      option("tokens", &TextOptions::tokens, "what a token is: characters are Unicode code points")
          .one_of({"characters"}));
  return table;
}

/// A part of the text: tokens [begin, end).
struct Part {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// The parts, by Split: the first floor(train n) characters, what is between, and the last floor(test n).
std::array<Part, 3> split_text(std::int64_t characters, const DataOptions& data) {
  const auto n = static_cast<double>(characters);
  const auto train_end = static_cast<std::int64_t>(n * data.train);
  const auto test_begin = characters - static_cast<std::int64_t>(n * data.test);
  return {Part{0, train_end}, Part{train_end, std::max(train_end, test_begin)}, Part{test_begin, characters}};
}

class TextTask final : public Task {
public:
  TextTask(Text text, const TextOptions& options, const DataOptions& data)
      : text_(std::move(text)), block_(options.block),
        parts_(split_text(static_cast<std::int64_t>(text_.tokens.size()), data)) {
    constexpr std::array<const char*, 3> names = {"training", "validation", "test"};
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const bool wanted = i != static_cast<std::size_t>(Split::test) || data.test > 0;
      if (wanted && parts_[i].size() <= block_)
        throw Refused(fmt::format(
            "[data] path = \"{}\" is too short: with train = {} and test = {} its {} characters leave {} for the {} "
            "split, and a block of {} takes at least {}; take a longer text, a smaller task.text.block or other "
            "fractions",
            data.path, data.train, data.test, text_.tokens.size(), parts_[i].size(), names[i], block_, block_ + 1));
    }
  }

  std::string refuses(Form form) const override {
    if (form == Form::language_model) return {};
    return "the task text predicts the next character and has no label for a whole row; use a language model "
           "(model.kind = \"decoder\"), or a task with one label";
  }

  TaskShape shape(Form) const override {
    const auto vocabulary = static_cast<std::int64_t>(text_.alphabet.size());
    return {.vocabulary = vocabulary, .length = block_, .classes = vocabulary, .shared_vocabulary = true};
  }

  void training_row(Form, std::uint64_t seed, std::int64_t step, std::int64_t row, Batch& batch,
                    std::int64_t at) const override {
    const Part& train = part(Split::train);
    const RandomKey key{seed, Stream::training_rows, static_cast<std::uint64_t>(step)};
    const auto starts = static_cast<std::uint64_t>(train.size() - block_);
    const auto start = static_cast<std::int64_t>(below(key, static_cast<std::uint64_t>(row), starts));
    write_window(train.begin + start, block_, batch, at);
  }

  std::int64_t evaluation_rows(Form, Split split) const override {
    if (split == Split::train) return std::min(windows(part(Split::train)), windows(part(Split::validation)));
    return windows(part(split));
  }

  void evaluation_row(Form, Split split, std::int64_t row, Batch& batch, std::int64_t at) const override {
    const std::int64_t begin = part(split).begin + row * block_;
    write_window(begin, std::min(block_, part(split).end - 1 - begin), batch, at);
  }

  /// The share of the training split's commonest character in the validation split.
  Chance chance(Form) const override {
    std::vector<std::int64_t> seen(text_.alphabet.size());
    for_each_token(Split::train, [&](std::uint16_t token) { ++seen[token]; });
    const auto commonest = static_cast<std::uint16_t>(std::ranges::max_element(seen) - seen.begin());
    std::int64_t hits = 0;
    for_each_token(Split::validation, [&](std::uint16_t token) { hits += token == commonest; });
    return {static_cast<double>(hits) / static_cast<double>(part(Split::validation).size()),
            fmt::format("always {}, the commonest character of the training split",
                        show_character(text_.alphabet[commonest]))};
  }

  std::string fingerprint() const override { return text_.fingerprint; }

  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::u32string characters;
    for (const std::int32_t token : tokens) {
      if (token < 0 || static_cast<std::size_t>(token) >= text_.alphabet.size())
        throw Failed(fmt::format("[task.text] token {} does not exist: the text has {} different characters", token,
                                 text_.alphabet.size()));
      characters.push_back(text_.alphabet[static_cast<std::size_t>(token)]);
    }
    return to_utf8(characters);
  }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    for (const char32_t character : from_utf8(text, "the given text")) {
      const std::int32_t token = find_character(text_.alphabet, character);
      if (token < 0) refuse_character(character);
      tokens.push_back(token);
    }
    return tokens;
  }

private:
  const Part& part(Split split) const { return parts_[static_cast<std::size_t>(split)]; }

  /// Windows that together predict every character of the part but its first, once.
  std::int64_t windows(const Part& part) const { return part.size() < 2 ? 0 : (part.size() - 2) / block_ + 1; }

  void write_window(std::int64_t begin, std::int64_t size, Batch& batch, std::int64_t at) const {
    if (at < 0 || at >= batch.rows || size > batch.length)
      throw Failed(fmt::format("[task.text] a window of {} characters does not fit as row {} of a batch [{}, {}]", size,
                               at, batch.rows, batch.length));
    const auto from = text_.tokens.begin() + begin;
    const std::int64_t row = at * batch.length;
    std::copy_n(from, size, batch.tokens.begin() + row);
    std::copy_n(from + 1, size, batch.targets.begin() + row);
    batch.lengths[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(size);
  }

  [[noreturn]] void refuse_character(char32_t character) const {
    std::u32string visible;
    std::ranges::copy_if(text_.alphabet, std::back_inserter(visible), [](char32_t c) { return c > U' '; });
    const bool has_space = visible.size() < text_.alphabet.size();
    constexpr std::size_t shown = 100;
    throw Refused(fmt::format("{} does not occur in the text that was learnt; its {} characters are {}{}{}",
                              show_character(character), text_.alphabet.size(), has_space ? "white space and " : "",
                              to_utf8(visible.substr(0, shown)), visible.size() > shown ? "..." : ""));
  }

  template <class Use> void for_each_token(Split split, Use use) const {
    std::for_each(text_.tokens.begin() + part(split).begin, text_.tokens.begin() + part(split).end, use);
  }

  Text text_;
  std::int64_t block_;
  std::array<Part, 3> parts_;
};

std::unique_ptr<Task> make_text(const Config& config) {
  return std::make_unique<TextTask>(read_text_file(config.data.path), text_option_table().read(config.task_options),
                                    config.data);
}

} // namespace

const TaskInfo task_text = {
    {.name = "text",
     .summary = "the characters of the file data.path: each is predicted from those before it",
     .paper = "as in Karpathy 2015, char-rnn; evaluation reads the whole split once, in windows that do not overlap",
     .equals = "",
     .cost = "2 bytes a character; a row is task.text.block characters",
     .options = text_option_table().options(),
     .presets = {}},
    make_text};

} // namespace heed
