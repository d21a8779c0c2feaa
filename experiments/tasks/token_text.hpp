// The text of data files as an array of tokens of one or two bytes each, divided into splits.
#pragma once

#include "experiments/data/data_cache.hpp"
#include "experiments/data/vocabulary.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace heed {

/// A part of the text: tokens [begin, end).
struct TextPart {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
};

/// The tokens of data.path, data.validation_path and data.test_path. Files are read in pieces. The tokens of large
/// files are cached (data/data_cache.hpp), so the next process does not read the files, and reads the tokens only when
/// it copies some.
class TokenText {
public:
  /// If the tokens are characters and there is one file, the vocabulary has the characters of the whole file, and the
  /// file is split by characters. Otherwise, the bytes of a file are split first, each time after the next white space,
  /// so that no word is cut, and the vocabulary is made from the training part. The splits without a separate file are
  /// parts of data.path: training is the first floor(train n), the test is the last floor(test n), and validation is
  /// the part between; if validation has a separate file, its part goes to training. Throws heed::Refused if a file
  /// cannot be used, is not UTF-8 (except for bytes), or has more than 65536 different tokens.
  /// @param place  the place of the cache for this number of bytes of data
  /// @param of_set  if not empty, validation is this file, and the parts of data.path are as without it
  explicit TokenText(const DataOptions& data,
                     const std::function<DataCachePlace(std::uint64_t data_bytes)>& place = data_cache_place,
                     const std::string& of_set = "");

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const std::array<TextPart, 3>& parts() const { return parts_; } ///< by Split
  const std::string& fingerprint() const { return fingerprint_; }
  const std::string& noun() const { return noun_; } ///< the noun for its tokens: "character"
  const std::vector<std::string>& notes() const { return notes_; }
  /// The share of validation's tokens that are outside the vocabulary, if it is large; else empty.
  std::string warning(bool of_set) const;
  /// The number of occurrences of each token in the split: training (0) or validation (1).
  std::span<const std::int64_t> counts(std::size_t split) const { return counts_.at(split); }

  /// Copies tokens [begin, begin + size).
  void copy(std::int64_t begin, std::int64_t size, std::int32_t* to) const;
  /// Throws heed::Failed if the tokens that were copied so far may be wrong (DataCache::problem).
  void require_whole() const;

private:
  struct Files;

  std::function<void(DataCacheWriter&)> maker(const DataOptions& data, std::shared_ptr<const Files> files,
                                              bool of_set) const;
  bool take(std::shared_ptr<const DataCache> kept, const DataOptions& data);
  std::span<const std::byte> tokens() const;

  std::string noun_, fingerprint_;
  std::function<void(DataCacheWriter&)> make_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::array<TextPart, 3> parts_;
  std::vector<std::string> notes_;
  std::array<std::vector<std::int64_t>, 2> counts_;
  std::int64_t width_ = 1; // bytes per token
  std::shared_ptr<const DataCache> kept_;

  mutable std::once_flag checked_;
  mutable std::shared_ptr<const DataCache> checked_data_; // owns the memory of tokens_
  mutable std::span<const std::byte> tokens_;
  mutable std::atomic<bool> used_ = false; // true if tokens were requested
};

} // namespace heed
