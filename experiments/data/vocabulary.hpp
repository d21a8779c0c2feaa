// Vocabularies: from text to tokens and back.
#pragma once

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
  /// The token for what is not in the vocabulary, or -1 where there is none.
  virtual std::int32_t unknown() const = 0;
  /// Appends the text's tokens. Throws heed::Refused for text that has none, where there is no unknown token.
  virtual void encode(std::string_view text, std::vector<std::int32_t>& tokens) const = 0;
  /// Text for tokens; throws heed::Failed for one that does not exist.
  virtual std::string decode(std::span<const std::int32_t> tokens) const = 0;
  /// One token as people should see it.
  virtual std::string show(std::int32_t token) const = 0;
  /// One token by itself, without quotes and in UTF-8, as it stands among others at a picture's axis.
  virtual std::string label(std::int32_t token) const { return decode({&token, 1}); }
  /// Of the file that it was read from; empty where it was made from the training part.
  virtual std::string fingerprint() const { return {}; }
  /// Adds what `read_vocabulary` makes the same one of.
  virtual void write(FieldWriter&) const {}
};

/// `look_alike_warning` of the vocabulary's tokens (normal_form.hpp).
std::string look_alike_warning(const Vocabulary& vocabulary);

/// A vocabulary of words, which stand between white space, in the given order. A line end is a word of its own where
/// "\n" is among them, else white space. `unknown`: index of the word for all others, or -1.
std::shared_ptr<const Vocabulary> word_vocabulary(std::vector<std::string> words, std::int32_t unknown = -1);

/// A vocabulary of characters (code points, ascending); with an unknown token after them if that is asked for.
std::shared_ptr<const Vocabulary> character_vocabulary(std::vector<char32_t> alphabet, bool with_unknown);

/// The kinds that [data] tokens can name: characters | bytes | words | sentencepiece.
std::vector<std::string> vocabulary_kinds();

/// The vocabulary that [data] asks for, from the texts of the training part alone:
/// - characters: every one that occurs, by code point, and an unknown token;
/// - bytes: all 256;
/// - words: an unknown token, then those that occur `min_count` times or more, the commonest first (then by their
///   bytes), `max_vocabulary` tokens at most; `line_ends`: a line end is a word;
/// - sentencepiece: the pieces of the model in the file `sentencepiece` (Kudo and Richardson 2018, arXiv 1808.06226),
///   in the model's order and with its unknown token.
/// Throws heed::Refused where a SentencePiece model is not one.
std::shared_ptr<const Vocabulary> make_vocabulary(const DataOptions& data, std::span<const std::string_view> training,
                                                  bool line_ends = false);

/// The same from texts that are not all there at once: calls its argument with one after another, in any pieces between
/// characters and words, and each time that it is called itself.
using EachText = std::function<void(const std::function<void(std::string_view text)>& use)>;
std::shared_ptr<const Vocabulary> make_vocabulary(const DataOptions& data, const EachText& training, bool line_ends);

/// The vocabulary that `write` wrote under the same options.
std::shared_ptr<const Vocabulary> read_vocabulary(const DataOptions& data, FieldReader& fields);

/// All that a vocabulary of [data] tokens follows from beside options and training texts; empty where that is nothing.
/// sentencepiece: the model's fingerprint, and the library that there is.
std::string vocabulary_identity(const DataOptions& data);

} // namespace heed
