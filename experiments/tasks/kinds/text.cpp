// Task `text`: the tokens of a file, each predicted from those before it.
#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/data/vocabulary.hpp"
#include "experiments/tasks/task.hpp"
#include "experiments/tasks/task_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace heed {

extern const TaskInfo task_text;

namespace {

struct TextOptions {
  std::int64_t block = 64;
};

const OptionTable<TextOptions>& text_option_table() {
  static const auto table = option_table<TextOptions>(
      option("block", &TextOptions::block, "how many tokens a row predicts: the window of training and evaluation")
          .at_least(1)
          .at_most(1 << 20)
          .unit("tokens"));
  return table;
}

/// A part of the text: tokens [begin, end).
struct Part {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

using Parts = std::array<Part, 3>; // by Split

/// A text as numbers of a vocabulary, two bytes each.
struct TokenText {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::vector<std::uint16_t> tokens;
  Parts parts;
  std::string fingerprint;
  std::string noun; ///< what its tokens are: "character"
  std::vector<std::string> notes;
};

/// A file with its option in words.
struct NamedText {
  std::string bytes, name;
};

/// The text of data.path, and those that validation and test have for themselves.
struct TextFiles {
  std::array<std::optional<NamedText>, 3> texts; // by Split; training's is data.path

  const NamedText& main() const { return *texts[0]; }
  bool apart() const { return texts[1] || texts[2]; }
};

TextFiles read_texts(const DataOptions& data) {
  TextFiles out;
  const std::array<std::pair<const char*, const std::string*>, 3> files = {
      {{"path", &data.path}, {"validation_path", &data.validation_path}, {"test_path", &data.test_path}}};
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [option, path] = files[i];
    if (i > 0 && path->empty()) continue;
    out.texts[i] = {read_data_file("data", option, *path), fmt::format("[data] {} = \"{}\"", option, *path)};
    if (data.tokens == "bytes") continue;
    require_utf8(out.texts[i]->bytes, out.texts[i]->name);
    std::string& bytes = out.texts[i]->bytes;
    bytes.erase(0, bytes.size() - without_mark(bytes).size());
  }
  return out;
}

/// The parts of data.path: the first floor(train n), what is between, and the last floor(test n). A part that has a
/// file of its own is empty here, and what validation would have is training's.
Parts split_text(std::int64_t size, const DataOptions& data) {
  const auto n = static_cast<double>(size);
  const auto test_begin = size - (data.test_path.empty() ? static_cast<std::int64_t>(n * data.test) : 0);
  const auto train_end = data.validation_path.empty() ? static_cast<std::int64_t>(n * data.train) : test_begin;
  return {Part{0, train_end}, Part{train_end, std::max(train_end, test_begin)}, Part{test_begin, size}};
}

/// Characters of one file: the vocabulary is that of the whole file.
TokenText as_characters(const TextFiles& files, const DataOptions& data) {
  Text text = text_of(files.main().bytes, files.main().name);
  const Parts parts = split_text(static_cast<std::int64_t>(text.tokens.size()), data);
  return {character_vocabulary(std::move(text.alphabet), false),
          std::move(text.tokens),
          parts,
          std::move(text.fingerprint),
          "character",
          {}};
}

/// Any other tokens, and characters of several files: the bytes of a file are parted first, each time after the next
/// white space, so that no word is cut; the vocabulary is that of the training part.
TokenText as_tokens(const TextFiles& files, const DataOptions& data) {
  const std::string_view all(files.main().bytes);
  TokenText text;
  text.noun = data.tokens == "words"        ? "word"
              : data.tokens == "bytes"      ? "byte"
              : data.tokens == "characters" ? "character"
                                            : "token";
  std::array<std::string_view, 3> pieces;
  std::size_t begin = 0;
  const Parts wanted = split_text(std::ssize(all), data);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t cut = all.find_first_of(" \t\r\n", static_cast<std::size_t>(wanted[i].end));
    const std::size_t end = std::max(begin, i == 2 || cut == all.npos ? all.size() : cut + 1);
    pieces[i] = all.substr(begin, end - begin);
    begin = end;
  }
  text.fingerprint = fingerprint_of(all);
  constexpr std::array<const char*, 3> words = {"", " validation ", " test "};
  for (const std::size_t i : {1U, 2U})
    if (files.texts[i]) {
      pieces[i] = files.texts[i]->bytes;
      text.fingerprint += words[i] + fingerprint_of(pieces[i]);
    }
  text.vocabulary = make_vocabulary(data, std::span(pieces).first(1), true);
  constexpr std::int64_t most = std::int64_t{std::numeric_limits<std::uint16_t>::max()} + 1;
  if (text.vocabulary->size() > most)
    throw Refused(fmt::format("{} has a vocabulary of {}; at most {} can be told apart: set data.max_vocabulary, or "
                              "raise data.min_count",
                              files.main().name, text.vocabulary->size(), most));
  std::vector<std::int32_t> tokens;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto from = static_cast<std::int64_t>(tokens.size());
    text.vocabulary->encode(pieces[i], tokens);
    text.parts[i] = {from, static_cast<std::int64_t>(tokens.size())};
  }
  for (const std::int32_t token : tokens) text.tokens.push_back(static_cast<std::uint16_t>(token));
  if (const auto unknown = std::ranges::count(tokens, text.vocabulary->unknown()); unknown > 0)
    text.notes.push_back(fmt::format("{} of {} {}s are unknown to the vocabulary", unknown, tokens.size(), text.noun));
  text.fingerprint += text.vocabulary->fingerprint();
  return text;
}

class TextTask final : public Task {
public:
  TextTask(TokenText text, const TextOptions& options, const DataOptions& data)
      : text_(std::make_shared<const TokenText>(std::move(text))), block_(options.block) {
    constexpr std::array<const char*, 3> names = {"training", "validation", "test"};
    files_ = {data.path, data.validation_path, data.test_path};
    for (std::size_t i = 0; i < text_->parts.size(); ++i) {
      const bool own = i > 0 && !files_[i].empty();
      if (files_[i].empty()) files_[i] = data.path;
      const bool wanted = i != static_cast<std::size_t>(Split::test) || own || data.test > 0;
      if (!wanted || text_->parts[i].size() > block_) continue;
      const std::string need = fmt::format("for the {} split, and a block of {} takes at least {}; take a longer text"
                                           "{} a smaller task.text.block",
                                           names[i], block_, block_ + 1, own ? " or" : ",");
      if (own)
        throw Refused(fmt::format("[data] {}_path = \"{}\" is too short: it has {} {}s {}", names[i], files_[i],
                                  text_->parts[i].size(), text_->noun, need));
      const std::int64_t of_path = tokens_of_path(data);
      throw Refused(fmt::format("[data] path = \"{}\" is too short: with {}test = {} its {} {}s leave {} {} or other "
                                "fractions",
                                data.path,
                                data.validation_path.empty() ? fmt::format("train = {} and ", data.train) : "",
                                data.test, of_path, text_->noun, text_->parts[i].size(), need));
    }
  }

  std::string refuses(Form form) const override {
    if (form == Form::language_model) return {};
    if (form == Form::classification)
      return "the task text predicts the next token and has no label for a whole row; use a language model "
             "(model.kind = \"decoder\"), or a task with one label";
    return "the task text predicts the next token of a text and has neither pairs of texts nor images; use a language "
           "model (model.kind = \"decoder\")";
  }

  TaskShape shape(Form) const override {
    const std::int64_t vocabulary = text_->vocabulary->size();
    return {.vocabulary = vocabulary, .length = block_, .classes = vocabulary, .shared_vocabulary = true};
  }

  void training_row(Form, std::uint64_t seed, std::int64_t step, std::int64_t row, Batch& batch,
                    std::int64_t at) const override {
    write_random_window({seed, Stream::training_rows, static_cast<std::uint64_t>(step)}, Split::train, row, batch, at);
  }

  void random_row(Form, Split split, std::uint64_t seed, std::int64_t step, std::int64_t row, Batch& batch,
                  std::int64_t at) const override {
    write_random_window({seed, Stream::random_evaluation, static_cast<std::uint64_t>(step)}, split, row, batch, at);
  }

  std::int64_t evaluation_rows(Form, Split split) const override {
    if (split == Split::train) return std::min(windows(part(Split::train)), windows(part(Split::validation)));
    return windows(part(split));
  }

  std::optional<std::int64_t> listed_rows(Form, Split split) const override { return windows(part(split)); }

  void evaluation_row(Form, Split split, std::int64_t row, Batch& batch, std::int64_t at) const override {
    const std::int64_t begin = part(split).begin + row * block_;
    write_window(begin, std::min(block_, part(split).end - 1 - begin), batch, at);
  }

  /// The share of the training split's commonest token in the validation split.
  Chance chance(Form) const override {
    std::vector<std::int64_t> seen(static_cast<std::size_t>(text_->vocabulary->size()));
    for_each_token(Split::train, [&](std::uint16_t token) { ++seen[token]; });
    const auto commonest = static_cast<std::uint16_t>(std::ranges::max_element(seen) - seen.begin());
    std::vector<std::int64_t> validation(seen.size());
    for_each_token(Split::validation, [&](std::uint16_t token) { ++validation[token]; });
    return {static_cast<double>(validation[commonest]) / static_cast<double>(part(Split::validation).size()),
            fmt::format("always {}, the commonest {} of the training split", text_->vocabulary->show(commonest),
                        text_->noun),
            std::nullopt, loss_by_frequencies(seen, validation, text_->noun + "s")};
  }

  std::string fingerprint() const override { return text_->fingerprint; }

  Facts facts() const override {
    Facts facts{.unit = text_->noun + "s", .sizes = {}, .files = files_, .notes = text_->notes};
    for (std::size_t i = 0; i < facts.sizes.size(); ++i) facts.sizes[i] = text_->parts[i].size();
    return facts;
  }

  std::string decode(std::span<const std::int32_t> tokens) const override { return text_->vocabulary->decode(tokens); }

  std::string token_text(std::int32_t token) const override { return text_->vocabulary->label(token); }

  std::vector<std::int32_t> encode(std::string_view text) const override {
    std::vector<std::int32_t> tokens;
    text_->vocabulary->encode(text, tokens);
    return tokens;
  }

private:
  /// The same text in other windows.
  TextTask(const TextTask& whole, std::int64_t block) : text_(whole.text_), block_(block), files_(whole.files_) {
    const std::int64_t there_are = part(Split::validation).size();
    if (there_are <= block)
      throw Refused(fmt::format("the validation split of [data] path = \"{}\" has {} {}s, and a window of {} takes at "
                                "least {}",
                                files_[1], there_are, text_->noun, block, block + 1));
  }

  std::unique_ptr<Task> make_of_length(std::int64_t length) const override {
    return std::unique_ptr<Task>(new TextTask(*this, length));
  }

  const Part& part(Split split) const { return text_->parts[static_cast<std::size_t>(split)]; }

  /// Windows that together predict every character of the part but its first, once.
  std::int64_t windows(const Part& part) const { return part.size() < 2 ? 0 : (part.size() - 2) / block_ + 1; }

  /// A window from anywhere in the part.
  void write_random_window(const RandomKey& key, Split split, std::int64_t row, Batch& batch, std::int64_t at) const {
    const auto starts = static_cast<std::uint64_t>(part(split).size() - block_);
    const auto start = static_cast<std::int64_t>(below(key, static_cast<std::uint64_t>(row), starts));
    write_window(part(split).begin + start, block_, batch, at);
  }

  void write_window(std::int64_t begin, std::int64_t size, Batch& batch, std::int64_t at) const {
    if (at < 0 || at >= batch.rows || size > batch.length)
      throw Failed(fmt::format("[task.text] a window of {} tokens does not fit as row {} of a batch [{}, {}]", size, at,
                               batch.rows, batch.length));
    const auto from = text_->tokens.begin() + begin;
    const std::int64_t row = at * batch.length;
    std::copy_n(from, size, batch.tokens.begin() + row);
    std::copy_n(from + 1, size, batch.targets.begin() + row);
    batch.lengths[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(size);
  }

  template <class Use> void for_each_token(Split split, Use use) const {
    std::for_each(text_->tokens.begin() + part(split).begin, text_->tokens.begin() + part(split).end, use);
  }

  /// How many tokens data.path has.
  std::int64_t tokens_of_path(const DataOptions& data) const {
    std::int64_t count = text_->parts[0].size();
    if (data.validation_path.empty()) count += text_->parts[1].size();
    if (data.test_path.empty()) count += text_->parts[2].size();
    return count;
  }

  std::shared_ptr<const TokenText> text_;
  std::int64_t block_;
  std::array<std::string, 3> files_; // by Split
};

std::unique_ptr<Task> make_text(const Config& config) {
  const TextFiles files = read_texts(config.data);
  const bool whole_alphabet = config.data.tokens == "characters" && !files.apart();
  return std::make_unique<TextTask>(whole_alphabet ? as_characters(files, config.data) : as_tokens(files, config.data),
                                    text_option_table().read(config.task_options), config.data);
}

} // namespace

const TaskInfo task_text = {
    {.name = "text",
     .summary = "the characters, bytes, words or pieces of the file data.path: each is predicted from those before it",
     .paper = "as in Karpathy 2015, char-rnn; evaluation reads the whole split once, in windows that do not overlap",
     .equals = "",
     .cost = "2 bytes a token; a row is task.text.block tokens",
     .options = text_option_table().options(),
     .presets = {},
     .silences = {"task.seed", "task.validation", "task.test"},
     .needs = {"data.path"},
     .uses = {"data.train", "data.test", "data.tokens", "train.evaluate_lengths"}},
    make_text,
    true};

} // namespace heed
