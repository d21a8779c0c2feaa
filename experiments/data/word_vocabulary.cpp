#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/text_hash.hpp"
#include "experiments/data/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <functional>
#include <utility>

namespace heed {

namespace {

/// True for bytes that are white space between words.
constexpr std::array<bool, 256> is_space = [] {
  std::array<bool, 256> out{};
  for (const char c : {' ', '\t', '\r', '\n', '\v', '\f'}) out[static_cast<unsigned char>(c)] = true;
  return out;
}();

/// Calls `use` with each word in turn. Words are separated by white space; if requested, each line end is a word.
template <class Use> void each_word(std::string_view text, bool line_ends, Use use) {
  const auto space = [&](std::size_t i) { return is_space[static_cast<unsigned char>(text[i])]; };
  for (std::size_t i = 0; i < text.size();) {
    if (space(i)) {
      if (line_ends && text[i] == '\n') use(text.substr(i, 1));
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && !space(i)) ++i;
    use(text.substr(begin, i - begin));
  }
}

class WordVocabulary final : public Vocabulary {
public:
  WordVocabulary(std::vector<std::string> words, std::int32_t unknown) : words_(std::move(words)), unknown_(unknown) {
    token_of_.reserve(words_.size());
    for (std::size_t i = 0; i < words_.size(); ++i) token_of_[words_[i]] = static_cast<std::int32_t>(i);
    line_ends_ = token_of_.contains("\n");
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(words_.size()); }
  std::int32_t unknown() const override { return unknown_; }

  void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
    each_word(text, line_ends_, [&](std::string_view word) {
      const auto found = token_of_.find(word);
      if (found == token_of_.end() && unknown_ < 0) refuse(word);
      tokens.push_back(found == token_of_.end() ? unknown_ : found->second);
    });
  }

  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    for (const std::int32_t token : tokens) {
      const std::string& word = word_of(token);
      if (!text.empty() && text.back() != '\n' && word != "\n") text += ' ';
      text += word;
    }
    return text;
  }

  std::string show(std::int32_t token) const override {
    const std::string& word = word_of(token);
    return word == "\n" ? "line end" : word;
  }

  void write(FieldWriter& fields) const override {
    fields.number(unknown_).number(size());
    for (const std::string& word : words_) fields.text(word);
  }

private:
  const std::string& word_of(std::int32_t token) const {
    if (token < 0 || token >= size()) fail_unknown_token(token, size(), "words");
    return words_[static_cast<std::size_t>(token)];
  }

  [[noreturn]] void refuse(std::string_view word) const {
    std::string known;
    for (std::size_t i = 0; i < std::min<std::size_t>(words_.size(), 40); ++i) known += " " + words_[i];
    throw Refused(fmt::format("\"{}\" is not a word that the task knows; with spaces between, its {} words are:{}{}",
                              word, words_.size(), known, words_.size() > 40 ? " ..." : ""));
  }

  std::vector<std::string> words_;
  std::int32_t unknown_;
  bool line_ends_ = false;
  boost::unordered_flat_map<std::string_view, std::int32_t, TextHash> token_of_; // for a repeated word, the last token
};

} // namespace

std::shared_ptr<const Vocabulary> word_vocabulary(std::vector<std::string> words, std::int32_t unknown) {
  return std::make_shared<WordVocabulary>(std::move(words), unknown);
}

std::shared_ptr<const Vocabulary> make_word_vocabulary(const VocabularySource& source) {
  boost::unordered_flat_map<std::string, std::int64_t, TextHash, std::equal_to<>> counts;
  source.training([&](std::string_view text) {
    each_word(text, source.line_ends, [&](std::string_view word) {
      const auto found = counts.find(word);
      if (found != counts.end()) ++found->second;
      else counts.emplace(word, 1);
    });
  });
  // by -count, so that the pairs sort in the required order
  std::vector<std::pair<std::int64_t, std::string_view>> kept;
  for (const auto& [word, count] : counts)
    if (count >= source.options.min_count) kept.emplace_back(-count, word);
  std::ranges::sort(kept);
  if (source.options.max_vocabulary > 0 && std::ssize(kept) > source.options.max_vocabulary - 1)
    kept.resize(static_cast<std::size_t>(source.options.max_vocabulary - 1));
  std::vector<std::string> words = {"<unknown>"};
  for (const auto& entry : kept) words.emplace_back(entry.second);
  return word_vocabulary(std::move(words), 0);
}

std::shared_ptr<const Vocabulary> read_word_vocabulary(const DataOptions&, FieldReader& fields) {
  const auto unknown = static_cast<std::int32_t>(fields.number());
  std::vector<std::string> words;
  for (std::int64_t left = fields.number(); left > 0 && fields; --left) words.emplace_back(fields.text());
  return word_vocabulary(std::move(words), unknown);
}

} // namespace heed
