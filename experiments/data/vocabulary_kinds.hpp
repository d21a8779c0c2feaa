// The functions that make and read each kind of vocabulary. Only vocabulary.cpp and the kinds include this file.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "experiments/data/vocabulary.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace heed {

/// The inputs of a vocabulary: options, training texts, and whether line ends are words.
struct VocabularySource {
  const DataOptions& options;
  const EachText& training;
  bool line_ends;
};

struct VocabularyKind {
  std::string_view name;
  std::shared_ptr<const Vocabulary> (*make)(const VocabularySource& source);
  /// Reads the output of `write`
  std::shared_ptr<const Vocabulary> (*read)(const DataOptions& options, FieldReader& fields);
  std::string (*identity)(const DataOptions& options) = nullptr; ///< like vocabulary_identity; null: empty
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

/// Throws heed::Failed for a token that is not one of the `size` tokens. `noun` is the word for the tokens in the
/// message.
[[noreturn]] void fail_unknown_token(std::int32_t token, std::int64_t size, std::string_view noun);

} // namespace heed
