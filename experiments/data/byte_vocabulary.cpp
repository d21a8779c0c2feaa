#include "experiments/data/text_file.hpp"
#include "experiments/data/vocabulary_kinds.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace heed {

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

} // namespace heed
