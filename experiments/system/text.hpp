// Text: plurals, trimming, splitting into parts and lines, decoding UTF-8, the current time. Texts from files and lists
// are cut before they are printed, because a file may contain a name of many megabytes.
#pragma once

#include <charconv>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace heed {

/// "" if n is 1, else "s": fmt::format("{} run{}", n, plural(n)).
template <class Count> constexpr const char* plural(Count n) { return n == 1 ? "" : "s"; }
/// "1 run", "3 runs".
std::string counted(std::size_t n, std::string_view what);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The text with a to z in place of A to Z.
std::string lower_case(std::string_view text);

/// A name with spaces in place of underscores.
std::string spaced(std::string name);

/// The text with other texts in place of some characters: replaced(name, {{'"', "\"\""}}).
std::string replaced(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> by);

/// A word in the quotes of a POSIX shell.
std::string in_shell_quotes(std::string_view word);
/// Command-line arguments, quoted for a shell.
std::string shell_words(const std::vector<std::string>& words);

/// The number that the whole text is; empty if it is none, or too large.
template <class Number> std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Removes white space at both ends.
std::string_view trimmed(std::string_view text);

/// Splits a text at each separator. The result has one part more than there are separators.
std::vector<std::string> parts_of(std::string_view text, char separator);

/// The names of a table's entries.
template <class Entries> std::vector<std::string> names_of(const Entries& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.emplace_back(entry.name);
  return names;
}

/// The texts of items with `between` between them: joined(arms, ", ", &Arm::label).
/// @param text_of  the text of an item; a function, or a member
template <class Items, class Text>
std::string joined(const Items& items, std::string_view between, const Text& text_of) {
  std::string out;
  for (std::string_view before; const auto& item : items) {
    out.append(before).append(std::invoke(text_of, item));
    before = between;
  }
  return out;
}

/// The lines of a text, without empty lines.
std::vector<std::string> lines_of(std::string_view text);

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

/// Decodes the character that begins at `p` (RFC 3629: overlong forms and surrogates are invalid) and returns its
/// number of bytes; 0 if it is invalid. Requires p < end.
inline std::size_t decode_utf8(const char* p, const char* end, char32_t& character) {
  const auto byte = [&](int i) { return static_cast<unsigned char>(p[i]); };
  const auto goes_on = [&](int i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned char first = byte(0);
  const auto left = end - p;
  if (first < 0x80) {
    character = first;
    return 1;
  }
  if (first < 0xe0) {
    if (first < 0xc2 || left < 2 || !goes_on(1)) return 0;
    character = static_cast<char32_t>((first & 0x1f) << 6 | (byte(1) & 0x3f));
    return 2;
  }
  if (first < 0xf0) {
    if (left < 3 || !goes_on(1) || !goes_on(2)) return 0;
    character = static_cast<char32_t>((first & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f));
    return character < 0x800 || (character >= 0xd800 && character < 0xe000) ? 0 : 3;
  }
  if (first > 0xf4 || left < 4 || !goes_on(1) || !goes_on(2) || !goes_on(3)) return 0;
  character = static_cast<char32_t>((first & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 |
                                    (byte(3) & 0x3f));
  return character < 0x10000 || character > 0x10ffff ? 0 : 4;
}

/// Calls `use` with each character in order, up to the first invalid one. Returns the position of the invalid one, or
/// the size.
template <class Use> std::size_t each_utf8(std::string_view bytes, Use use) {
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  for (const char* p = begin; p != end;) {
    char32_t character = 0;
    const std::size_t size = decode_utf8(p, end, character);
    if (size == 0) return static_cast<std::size_t>(p - begin);
    use(character);
    p += size;
  }
  return bytes.size();
}

/// The number of bytes, 0 to 3, at the text's end that begin a character and are incomplete.
inline std::size_t unfinished_utf8(std::string_view bytes) {
  for (std::size_t n = 1; n <= 3 && n <= bytes.size(); ++n) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - n]);
    if ((byte & 0xc0) == 0x80) continue; // not a first byte
    const std::size_t whole = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return byte >= 0xc2 && byte <= 0xf4 && n < whole ? n : 0;
  }
  return 0;
}

/// "2026-11-22T10:15:00Z".
std::string utc_now();

} // namespace heed
