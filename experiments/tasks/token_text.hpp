// The text of data files as tokens of one or two bytes, in its splits.
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

/// The tokens of data.path, data.validation_path and data.test_path. Files are read in pieces. What comes of large ones
/// is kept (data/data_cache.hpp), so that the next process reads neither them nor, before it copies any, their tokens.
class TokenText {
public:
  /// Characters of one file: the vocabulary is that of the whole file, which is parted by characters. Any other tokens,
  /// and characters of several files: the bytes of a file are parted first, each time after the next white space, so
  /// that no word is cut; the vocabulary is that of the training part. Data.path has the parts that have no file of
  /// their own: the first floor(train n), what is between, and the last floor(test n); what validation would have is
  /// training's. Throws heed::Refused where a file can't be used, is not UTF-8 (but for bytes), or has more than 65536
  /// different tokens.
  /// @param place  where it is kept, of so many bytes of data
  explicit TokenText(const DataOptions& data,
                     const std::function<DataCachePlace(std::uint64_t data_bytes)>& place = data_cache_place);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  const std::array<TextPart, 3>& parts() const { return parts_; } ///< by Split
  const std::string& fingerprint() const { return fingerprint_; }
  const std::string& noun() const { return noun_; } ///< what its tokens are: "character"
  const std::vector<std::string>& notes() const { return notes_; }
  /// How often each token is in the split, of training (0) and validation (1).
  std::span<const std::int64_t> counts(std::size_t split) const { return counts_.at(split); }

  /// Tokens [begin, begin + size).
  void copy(std::int64_t begin, std::int64_t size, std::int32_t* to) const;
  /// Throws heed::Failed where what was copied so far may be other tokens (DataCache::problem).
  void require_whole() const;

private:
  struct Files;

  std::function<void(DataCacheWriter&)> maker(const DataOptions& data, std::shared_ptr<const Files> files) const;
  bool take(std::shared_ptr<const DataCache> kept, const DataOptions& data);
  std::span<const std::byte> tokens() const;

  std::string noun_, fingerprint_;
  std::function<void(DataCacheWriter&)> make_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::array<TextPart, 3> parts_;
  std::vector<std::string> notes_;
  std::array<std::vector<std::int64_t>, 2> counts_;
  std::int64_t width_ = 1; // bytes a token
  std::shared_ptr<const DataCache> kept_;

  mutable std::once_flag checked_;
  mutable std::shared_ptr<const DataCache> checked_data_; // what `tokens` are from
  mutable std::span<const std::byte> tokens_;
  mutable std::atomic<bool> used_ = false; // some were asked for
};

} // namespace heed
