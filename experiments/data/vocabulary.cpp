#include "experiments/data/vocabulary.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/normal_form.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace heed {

namespace {

constexpr VocabularyKind kinds[] = {
    {"characters", make_character_vocabulary, read_character_vocabulary},
    {"bytes", make_byte_vocabulary, read_byte_vocabulary},
    {"words", make_word_vocabulary, read_word_vocabulary},
    {"sentencepiece", make_sentencepiece_vocabulary, read_sentencepiece_vocabulary, sentencepiece_identity},
};

const VocabularyKind& kind_of(const DataOptions& data) {
  const auto kind = std::ranges::find(kinds, data.tokens, &VocabularyKind::name);
  if (kind == std::end(kinds)) throw Failed(fmt::format("[data] there are no tokens of the kind \"{}\"", data.tokens));
  return *kind;
}

} // namespace

std::vector<std::string> vocabulary_kinds() { return names_of(kinds); }

std::shared_ptr<const Vocabulary> make_vocabulary(const DataOptions& data, std::span<const std::string_view> training,
                                                  bool line_ends) {
  const EachText each = [&](const std::function<void(std::string_view)>& use) {
    for (const std::string_view text : training) use(text);
  };
  return make_vocabulary(data, each, line_ends);
}

std::shared_ptr<const Vocabulary> make_vocabulary(const DataOptions& data, const EachText& training, bool line_ends) {
  return kind_of(data).make({data, training, line_ends});
}

std::shared_ptr<const Vocabulary> read_vocabulary(const DataOptions& data, FieldReader& fields) {
  return kind_of(data).read(data, fields);
}

std::string vocabulary_identity(const DataOptions& data) {
  const VocabularyKind& kind = kind_of(data);
  return kind.identity ? kind.identity(data) : "";
}

std::string look_alike_warning(const Vocabulary& vocabulary) {
  return look_alike_warning(
      [&](const auto& use) {
        for (std::int64_t i = 0; i < vocabulary.size(); ++i) {
          const auto token = static_cast<std::int32_t>(i);
          if (token != vocabulary.unknown()) use(vocabulary.decode({&token, 1}));
        }
      },
      "token");
}

void fail_unknown_token(std::int32_t token, std::int64_t size, std::string_view noun) {
  throw Failed(fmt::format("[data] token {} does not exist: there are {} {}", token, size, noun));
}

namespace {

class ByteVocabulary final : public Vocabulary {
public:
  std::int64_t size() const override { return 256; }
  std::int32_t unknown() const override { return -1; }

  void encode(std::string_view text, std::vector<std::int32_t>& tokens) const override {
    const std::size_t before = tokens.size();
    tokens.resize(before + text.size());
    std::ranges::transform(text, tokens.begin() + static_cast<std::ptrdiff_t>(before),
                           [](char c) { return static_cast<unsigned char>(c); });
  }

  std::string decode(std::span<const std::int32_t> tokens) const override {
    std::string text;
    for (const std::int32_t token : tokens) {
      if (token < 0 || token >= size()) fail_unknown_token(token, size(), "bytes");
      text += static_cast<char>(token);
    }
    return text;
  }

  std::string show(std::int32_t token) const override {
    return token > 0x20 && token < 0x7f ? show_character(static_cast<char32_t>(token)) : fmt::format("0x{:02X}", token);
  }

  std::string label(std::int32_t token) const override { return token < 0x80 ? decode({&token, 1}) : show(token); }
};

} // namespace

std::shared_ptr<const Vocabulary> make_byte_vocabulary(const VocabularySource&) {
  return std::make_shared<ByteVocabulary>();
}

std::shared_ptr<const Vocabulary> read_byte_vocabulary(const DataOptions&, FieldReader&) {
  return std::make_shared<ByteVocabulary>();
}

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
