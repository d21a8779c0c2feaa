#include "autograd/error.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/utf8.hpp"
#include "experiments/data/vocabulary_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace heed {

namespace {

class CharacterVocabulary final : public Vocabulary {
public:
  CharacterVocabulary(std::vector<char32_t> alphabet, bool with_unknown)
      : alphabet_(std::move(alphabet)), with_unknown_(with_unknown) {
    token_of_.assign(alphabet_.empty() ? 0 : alphabet_.back() + std::size_t{1}, unknown());
    for (std::size_t i = 0; i < alphabet_.size(); ++i) token_of_[alphabet_[i]] = static_cast<std::int32_t>(i);
  }

  std::int64_t size() const override { return characters() + (with_unknown_ ? 1 : 0); }
  std::int32_t unknown() const override { return with_unknown_ ? characters() : -1; }

  void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
    const std::size_t before = tokens.size();
    tokens.resize(before + text.size());
    std::int32_t* next = tokens.data() + before;
    const std::int32_t none = unknown();
    const std::size_t right = each_utf8(text, [&](char32_t character) {
      const std::int32_t token = character < token_of_.size() ? token_of_[character] : none;
      if (token < 0) refuse(character);
      *next++ = token;
    });
    if (right < text.size()) require_utf8(text, "the given text");
    tokens.resize(static_cast<std::size_t>(next - tokens.data()));
  }

  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::u32string text;
    for (const std::int32_t token : tokens) {
      if (token < 0 || token >= size()) fail_unknown_token(token, size(), "different characters");
      text += token == unknown() ? U'\uFFFD' : alphabet_[static_cast<std::size_t>(token)];
    }
    return to_utf8(text);
  }

  std::string show(std::int32_t token) const override {
    if (token < 0 || token >= size()) fail_unknown_token(token, size(), "different characters");
    return token == unknown() ? "<unknown>" : show_character(alphabet_[static_cast<std::size_t>(token)]);
  }

  void write(FieldWriter& fields) const override {
    fields.number(with_unknown_).text(to_utf8({alphabet_.data(), alphabet_.size()}));
  }

private:
  std::int32_t characters() const { return static_cast<std::int32_t>(alphabet_.size()); }

  [[noreturn]] void refuse(char32_t character) const {
    std::u32string visible;
    std::ranges::copy_if(alphabet_, std::back_inserter(visible), [](char32_t c) { return c > U' '; });
    const bool has_space = visible.size() < alphabet_.size();
    constexpr std::size_t shown = 100;
    throw Refused(fmt::format("{} does not occur in the text that was learnt; its {} characters are {}{}{}",
                              show_character(character), alphabet_.size(), has_space ? "white space and " : "",
                              to_utf8(visible.substr(0, shown)), visible.size() > shown ? "..." : ""));
  }

  std::vector<char32_t> alphabet_;
  bool with_unknown_;
  std::vector<std::int32_t> token_of_; // indexed by code point
};

} // namespace

std::shared_ptr<const Vocabulary> character_vocabulary(std::vector<char32_t> alphabet, bool with_unknown) {
  return std::make_shared<CharacterVocabulary>(std::move(alphabet), with_unknown);
}

std::shared_ptr<const Vocabulary> make_character_vocabulary(const VocabularySource& source) {
  std::vector<std::uint8_t> occurs(0x110000);
  std::size_t end = 0;
  source.training([&](std::string_view text) {
    const std::size_t right = each_utf8(text, [&](char32_t c) {
      occurs[c] = 1;
      end = std::max<std::size_t>(end, c + std::size_t{1});
    });
    if (right < text.size()) require_utf8(text, "the training part");
  });
  std::vector<char32_t> alphabet;
  for (std::size_t c = 0; c < end; ++c)
    if (occurs[c] != 0) alphabet.push_back(static_cast<char32_t>(c));
  return character_vocabulary(std::move(alphabet), true);
}

std::shared_ptr<const Vocabulary> read_character_vocabulary(const DataOptions&, FieldReader& fields) {
  const bool with_unknown = fields.number() != 0;
  const std::u32string alphabet = from_utf8(fields.text(), "the kept alphabet");
  return character_vocabulary({alphabet.begin(), alphabet.end()}, with_unknown);
}

} // namespace heed
