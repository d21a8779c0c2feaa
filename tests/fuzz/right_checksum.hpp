// For fuzz targets: corrects the checksum in an input, because a fuzzer cannot find a matching checksum by search.
#pragma once

#include <string>
#include <string_view>

namespace heed::fuzz {

/// If the error of a reader has the form "... is X, ... content's Y ...", replaces the first X in `bytes` by Y. Returns
/// whether it did.
inline bool put_right(std::string& bytes, std::string_view error) {
  constexpr std::string_view before = " is ", between = ", its content's ";
  const std::size_t middle = error.find(between);
  if (middle == std::string_view::npos) return false;
  const std::size_t begin = error.substr(0, middle).find(before);
  if (begin == std::string_view::npos) return false;
  const std::string_view stated = error.substr(begin + before.size(), middle - begin - before.size());
  std::string_view found = error.substr(middle + between.size());
  found = found.substr(0, found.find(':'));
  const std::size_t at = stated.empty() ? std::string::npos : bytes.find(stated);
  if (at == std::string::npos || stated == found) return false;
  bytes.replace(at, stated.size(), found);
  return true;
}

} // namespace heed::fuzz
