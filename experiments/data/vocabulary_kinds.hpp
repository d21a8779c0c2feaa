// How each kind of vocabulary is made; only vocabulary.cpp and the kinds themselves need this.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "experiments/data/vocabulary.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace heed {

/// What a vocabulary is made from.
struct VocabularySource {
  const DataOptions& options;
  const EachText& training;
  bool line_ends;
};

struct VocabularyKind {
  std::string_view name;
  std::shared_ptr<const Vocabulary> (*make)(const VocabularySource& source);
  std::shared_ptr<const Vocabulary> (*read)(const DataOptions& options, FieldReader& fields); ///< what `write` wrote
  std::string (*identity)(const DataOptions& options) = nullptr; ///< as vocabulary_identity; null: empty
};

std::shared_ptr<const Vocabulary> make_character_vocabulary(const VocabularySource& source);
std::shared_ptr<const Vocabulary> make_byte_vocabulary(const VocabularySource& source);
std::shared_ptr<const Vocabulary> make_word_vocabulary(const VocabularySource& source);
std::shared_ptr<const Vocabulary> make_sentencepiece_vocabulary(const VocabularySource& source);

std::shared_ptr<const Vocabulary> read_character_vocabulary(const DataOptions& options, FieldReader& fields);
std::shared_ptr<const Vocabulary> read_byte_vocabulary(const DataOptions& options, FieldReader& fields);
std::shared_ptr<const Vocabulary> read_word_vocabulary(const DataOptions& options, FieldReader& fields);
std::shared_ptr<const Vocabulary> read_sentencepiece_vocabulary(const DataOptions& options, FieldReader& fields);

std::string sentencepiece_identity(const DataOptions& options);

/// heed::Failed for a token that is not one of `size`; `noun`: what there are so many of.
[[noreturn]] void fail_unknown_token(std::int32_t token, std::int64_t size, std::string_view noun);

} // namespace heed
