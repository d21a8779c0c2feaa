#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/vocabulary_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace heed {

namespace {

/// Calls `use` with each word in turn: what stands between white space and, if asked for, each line end.
template <class Use> void each_word(std::string_view text, bool line_ends, Use use) {
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\n' && line_ends) use(text.substr(i, 1));
    const std::size_t begin = i;
    i = std::min(text.find_first_of(" \t\r\n\v\f", begin), text.size());
    if (i > begin) use(text.substr(begin, i - begin));
    else ++i;
  }
}

class WordVocabulary final : public Vocabulary {
public:
  WordVocabulary(std::vector<std::string> words, std::int32_t unknown) : words_(std::move(words)), unknown_(unknown) {
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
  std::map<std::string, std::int32_t, std::less<>> token_of_;
};

} // namespace

std::shared_ptr<const Vocabulary> word_vocabulary(std::vector<std::string> words, std::int32_t unknown) {
  return std::make_shared<WordVocabulary>(std::move(words), unknown);
}

std::shared_ptr<const Vocabulary> make_word_vocabulary(const VocabularySource& source) {
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const std::string_view text : source.training)
    each_word(text, source.line_ends, [&](std::string_view word) { ++counts[word]; });
  std::vector<std::pair<std::int64_t, std::string_view>> kept; // by -count, so that pairs compare as wanted
  for (const auto& [word, count] : counts)
    if (count >= source.options.min_count) kept.emplace_back(-count, word);
  std::ranges::sort(kept);
  if (source.options.max_vocabulary > 0 && std::ssize(kept) > source.options.max_vocabulary - 1)
    kept.resize(static_cast<std::size_t>(source.options.max_vocabulary - 1));
  std::vector<std::string> words = {"<unknown>"};
  for (const auto& entry : kept) words.emplace_back(entry.second);
  return word_vocabulary(std::move(words), 0);
}

} // namespace heed
