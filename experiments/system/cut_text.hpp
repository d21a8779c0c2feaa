// Cuts texts from files and lists before they are printed. A file may contain a name of many megabytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The longest message, and the longest text of a record that only people read. Ten lines of a configuration fit.
inline constexpr std::size_t longest_message = std::size_t{1} << 14;

/// The beginning of a text, at most `most` bytes, without a part of a character at its end.
std::string_view beginning_of(std::string_view text, std::size_t most);

/// The text, or its beginning with its size if it has more than `most` bytes: "abc... (30000000 bytes)". A text that
/// was cut is not cut again.
std::string cut(std::string_view text, std::size_t most = 200);

/// The first `most` words, separated by commas, and the number of the others: "a, b and 29998 more". Each word is cut.
std::string first_words(const std::vector<std::string>& words, std::size_t most = 6);

/// The same for sentences, each on a line of its own that begins with `indent`.
std::string first_lines(const std::vector<std::string>& sentences, std::string_view indent, std::size_t most = 20);

} // namespace heed
