#include "experiments/data/word_table.hpp"

#include "autograd/error.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <xxhash.h>

namespace heed {

namespace {

std::uint64_t hash_of(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }
std::uint32_t mark_of(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

} // namespace

std::size_t WordTable::place_of(std::string_view text, std::uint64_t hash) const {
  const std::size_t last = places_.size() - 1;
  std::size_t at = static_cast<std::size_t>(hash) & last;
  for (; places_[at].next != 0; at = (at + 1) & last)
    if (places_[at].mark == mark_of(hash) && words_[places_[at].next - 1] == text) break;
  return at;
}

std::uint32_t WordTable::add(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  std::size_t at = place_of(text, hash);
  if (places_[at].next != 0) return places_[at].next - 1;
  if (words_.size() + 1 >= none) throw Failed(fmt::format("more than {} different texts are not supported", none));
  if (2 * (words_.size() + 1) > places_.size()) {
    grow();
    at = place_of(text, hash);
  }
  words_.push_back(texts_ == Texts::copied ? copied(text) : text);
  places_[at] = {mark_of(hash), static_cast<std::uint32_t>(words_.size())};
  return places_[at].next - 1;
}

std::uint32_t WordTable::find(std::string_view text) const { return places_[place_of(text, hash_of(text))].next - 1; }

void WordTable::grow() {
  places_.assign(2 * places_.size(), {});
  const std::size_t last = places_.size() - 1;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::uint64_t hash = hash_of(words_[i]);
    std::size_t at = static_cast<std::size_t>(hash) & last;
    while (places_[at].next != 0) at = (at + 1) & last;
    places_[at] = {mark_of(hash), static_cast<std::uint32_t>(i + 1)};
  }
}

std::string_view WordTable::copied(std::string_view text) {
  constexpr std::size_t block = std::size_t{1} << 16;
  if (text.size() > left_) {
    left_ = std::max(block, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(left_));
    end_ = blocks_.back().get();
  }
  char* const to = end_;
  std::copy(text.begin(), text.end(), to);
  end_ += text.size();
  left_ -= text.size();
  return {to, text.size()};
}

} // namespace heed
