// A hash table that numbers distinct words, for large sets of words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace heed {

/// Numbers the distinct texts 0, 1, ... in order of first occurrence. Uses open addressing with linear probing. A slot
/// stores half of the text's hash, so texts of other slots in a probe sequence are rarely compared.
class WordTable {
public:
  enum class Texts {
    copied, ///< the table owns copies of the texts
    lent    ///< the texts are in memory that outlives the table
  };
  explicit WordTable(Texts texts) : texts_(texts), places_(16) {}

  static constexpr std::uint32_t none = 0xffffffff;

  /// The text's number. Adds the text if it is new.
  std::uint32_t add(std::string_view text);
  /// The text's number, or `none`.
  std::uint32_t find(std::string_view text) const;
  bool contains(std::string_view text) const { return find(text) != none; }

  std::size_t size() const { return words_.size(); }
  std::string_view operator[](std::size_t number) const { return words_[number]; }

private:
  struct Place {
    std::uint32_t mark = 0, next = 0; // the upper half of the hash; the number + 1, or 0 if the slot is free
  };

  /// The slot of the text, or the free slot where it would be added.
  std::size_t place_of(std::string_view text, std::uint64_t hash) const;
  void grow();
  std::string_view copied(std::string_view text);

  Texts texts_;
  std::vector<Place> places_; // the size is a power of two
  std::vector<std::string_view> words_;
  std::vector<std::unique_ptr<char[]>> blocks_; // own the copies
  char* end_ = nullptr;                         // the end of the used part of the last block
  std::size_t left_ = 0;                        // free bytes after it
};

} // namespace heed
