// Vocabularies convert text to tokens and back. Characters, bytes, words or SentencePiece pieces can be the tokens.
#pragma once

#include "experiments/data/data_cache.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

struct DataOptions;
class FieldReader;
class FieldWriter;

class Vocabulary {
public:
  virtual ~Vocabulary() = default;

  /// Tokens are 0 ... size() - 1.
  virtual std::int64_t size() const = 0;
  /// The token for text that is not in the vocabulary; -1 if there is no such token.
  virtual std::int32_t unknown() const = 0;
  /// Appends the text's tokens. Throws heed::Refused for text that is not in the vocabulary if there is no unknown
  /// token.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& tokens) const = 0;
  /// The text of tokens. Throws heed::Failed for a token that does not exist.
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
  /// One token in a form for messages.
  virtual std::string show(std::int32_t token) const = 0;
  /// One token without quotes and in UTF-8, as a label on the axis of a figure.
  virtual std::string label(std::int32_t token) const { return decode({&token, 1}); }
  /// The fingerprint of the vocabulary's file; empty if the vocabulary was made from the training part.
  virtual std::string fingerprint() const { return {}; }
  /// Writes the fields from which `read_vocabulary` makes the same vocabulary.
  virtual void write(FieldWriter&) const {}
};

/// `look_alike_warning` of the vocabulary's tokens (normal_form.hpp).
std::string look_alike_warning(const Vocabulary& vocabulary);

/// A vocabulary of words in the given order. Words are separated by white space. A line end is a word if "\n" is one of
/// the words; otherwise it is white space. `unknown`: the index of the word for all other words, or -1.
std::shared_ptr<const Vocabulary> word_vocabulary(std::vector<std::string> words, std::int32_t unknown = -1);

/// A vocabulary of characters (code points in ascending order), optionally followed by an unknown token.
std::shared_ptr<const Vocabulary> character_vocabulary(std::vector<char32_t> alphabet, bool with_unknown);

/// The allowed values of [data] tokens: characters | bytes | words | sentencepiece.
std::vector<std::string> vocabulary_kinds();

/// Makes the vocabulary of the configuration's [data], only from the texts of the training part:
/// - characters: all characters that occur, ordered by code point, and an unknown token;
/// - bytes: all 256;
/// - words: an unknown token, then the words with at least `min_count` occurrences, the most frequent first (equally
///   frequent ones ordered by their bytes), at most `max_vocabulary` tokens; `line_ends`: a line end is a word;
/// - sentencepiece: the pieces of the model in the file `sentencepiece` (Kudo and Richardson 2018, arXiv 1808.06226),
///   in the model's order and with its unknown token.
/// Throws heed::Refused if the SentencePiece model is invalid.
std::shared_ptr<const Vocabulary> make_vocabulary(const DataOptions& data, std::span<const std::string_view> training,
                                                  bool line_ends = false);

/// Calls its argument with one text after another. Texts may be pieces that are cut between characters and between
/// words. It can be called several times. `make_vocabulary` with it is like the one above, for texts that are not in
/// memory at the same time.
using EachText = std::function<void(const std::function<void(std::string_view text)>& use)>;
std::shared_ptr<const Vocabulary> make_vocabulary(const DataOptions& data, const EachText& training, bool line_ends);

/// Reads a vocabulary that `write` wrote under the same options.
std::shared_ptr<const Vocabulary> read_vocabulary(const DataOptions& data, FieldReader& fields);

/// Everything that a vocabulary depends on apart from options and training texts; empty if there is nothing. For
/// sentencepiece: the fingerprint of the model, and the size and time of the library's file.
std::string vocabulary_identity(const DataOptions& data);

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
