// Small text functions: plurals, trimming, and splitting into parts and lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// "" if n is 1, else "s": fmt::format("{} run{}", n, plural(n)).
template <class Count> constexpr const char* plural(Count n) { return n == 1 ? "" : "s"; }
/// "1 run", "3 runs".
std::string counted(std::size_t n, std::string_view what);

/// Removes white space at both ends.
std::string_view trimmed(std::string_view text);

/// Splits a text at each separator. The result has one part more than there are separators.
std::vector<std::string> parts_of(std::string_view text, char separator);

/// The lines of a text, without empty lines.
std::vector<std::string> lines_of(std::string_view text);

} // namespace heed
