// Lines and words, of what other programs write and of what is said.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// "s" unless there is one: fmt::format("{} run{}", n, plural(n)).
template <class Count> constexpr const char* plural(Count n) { return n == 1 ? "" : "s"; }
/// "1 run", "3 runs".
std::string counted(std::size_t n, std::string_view what);

/// Without white space at its ends.
std::string_view trimmed(std::string_view text);

/// What stands between the separators: one part more than there are of them.
std::vector<std::string> parts_of(std::string_view text, char separator);

/// Its lines, without those that are empty.
std::vector<std::string> lines_of(std::string_view text);

} // namespace heed
