// Shared code of the fuzz targets. A fuzz target is a file NAME.cpp with the one function that libFuzzer calls,
// LLVMFuzzerTestOneInput. The function reads the input as the program does and throws a Finding if the reader breaks a
// guarantee. An exception that the reader's contract does not allow is not caught, so the fuzzer reports it.
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

/// Removes the text up to and including the first separator from `rest` and returns the text before the separator. For
/// inputs with several parts.
inline std::string_view next_part(std::string_view& rest, char separator = '\0') {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return part;
}

/// The error message if `read` refuses the input, which is allowed; empty if `read` accepts it.
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
