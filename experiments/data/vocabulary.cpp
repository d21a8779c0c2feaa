#include "experiments/data/vocabulary.hpp"

#include "autograd/error.hpp"
#include "experiments/config/config.hpp"
#include "experiments/data/normal_form.hpp"
#include "experiments/data/vocabulary_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

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

std::vector<std::string> vocabulary_kinds() {
  std::vector<std::string> names;
  for (const VocabularyKind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

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

} // namespace heed
