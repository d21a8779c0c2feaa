// XXH3-128 of contents, in 32 hexadecimal digits.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct XXH3_state_s;

namespace heed {

std::string content_hash(std::string_view bytes);

/// The same of bytes that come one after another.
class ContentHash {
public:
  /// Throws std::bad_alloc.
  ContentHash();
  void add(std::string_view bytes);
  /// Of all so far.
  std::string text() const;

private:
  std::unique_ptr<XXH3_state_s, void (*)(XXH3_state_s*)> state_;
};

} // namespace heed
