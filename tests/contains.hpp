// `contains`: whether a string contains another string.
#pragma once

#include <string>

namespace heed::test {

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace heed::test
