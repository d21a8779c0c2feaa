// The hash of texts for boost::unordered_flat_map and boost::unordered_flat_set, for millions of words or lines.
#pragma once

#include <cstddef>
#include <string_view>
#include <xxhash.h>

namespace heed {

struct TextHash {
  using is_transparent = void; ///< std::string_view finds std::string
  using is_avalanching = void; ///< all bits depend on the whole text
  std::size_t operator()(std::string_view text) const {
    return static_cast<std::size_t>(XXH3_64bits(text.data(), text.size()));
  }
};

} // namespace heed
