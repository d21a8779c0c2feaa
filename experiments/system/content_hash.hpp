// XXH3-128 hashes of contents, as 32 hexadecimal digits.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace heed {

std::string content_hash(std::string_view bytes);

/// The same hash, computed incrementally.
class ContentHash {
public:
  /// Throws std::bad_alloc.
  ContentHash();
  void add(std::string_view bytes);
  /// The hash of all bytes so far.
  std::string text() const;

private:
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> state_;
};

} // namespace heed
