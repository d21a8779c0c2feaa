// What fuzz targets share. A target is a file NAME.cpp with the one function that libFuzzer calls,
// LLVMFuzzerTestOneInput. It reads the input as the program does, and throws a Finding where a promise of the reader
// does not hold; what a reader throws against its contract goes through.
#pragma once

#include "autograd/error.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heed::fuzz {

struct Finding : std::logic_error {
  using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw Finding(what);
}

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Takes the text up to the first such character off the front, and that as well: inputs of several parts.
inline std::string_view next_part(std::string_view& rest, char separator = '\0') {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

/// Why `read` refused what it read, which is its right; empty where it did not.
template <class Read> std::string refusal(Read read) {
  try {
    read();
    return {};
  } catch (const Refused& refused) {
    const std::string why = refused.what();
    require(!why.empty(), "refused without a reason");
    return why;
  }
}

} // namespace heed::fuzz
