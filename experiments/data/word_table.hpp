// Different words with numbers: a hash table for many of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace heed {

/// The different ones of many texts, numbered 0, 1, ... as they come. Open addressing with linear probing; a place
/// holds half of the text's hash, so that others of a chain are seldom looked at.
class WordTable {
public:
  enum class Texts {
    copied, ///< they are kept here
    lent    ///< they lie in memory that outlives the table
  };
  explicit WordTable(Texts texts) : texts_(texts), places_(16) {}

  static constexpr std::uint32_t none = 0xffffffff;

  /// The text's number; a new one if it is not there.
  std::uint32_t add(std::string_view text);
  /// The text's number, or `none`.
  std::uint32_t find(std::string_view text) const;
  bool contains(std::string_view text) const { return find(text) != none; }

  std::size_t size() const { return words_.size(); }
  std::string_view operator[](std::size_t number) const { return words_[number]; }

private:
  struct Place {
    std::uint32_t mark = 0, next = 0; // the hash's upper half; the number + 1, or 0 where the place is free
  };

  /// The place of the text, or the free one that it would take.
  std::size_t place_of(std::string_view text, std::uint64_t hash) const;
  void grow();
  std::string_view copied(std::string_view text);

  Texts texts_;
  std::vector<Place> places_; // a power of two of them
  std::vector<std::string_view> words_;
  std::vector<std::unique_ptr<char[]>> blocks_; // of copies
  char* end_ = nullptr;                         // of what the last block holds
  std::size_t left_ = 0;                        // behind it
};

} // namespace heed
