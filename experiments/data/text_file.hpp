// Text as characters: Unicode code points, from UTF-8 and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A text, each character as its number in the text's own alphabet. Two bytes a character.
struct Text {
  std::vector<char32_t> alphabet;    ///< every character that occurs, once, by code point; a token is an index
  std::vector<std::uint16_t> tokens; ///< the text
  std::string fingerprint;           ///< of the bytes: "xxh128:" and 32 hexadecimal digits
};

/// A file's bytes. Option `option` of [table] named it, and stands in errors. Throws heed::Refused where the path is
/// empty, missing, not a regular file or not readable, and where the file is empty.
std::string read_data_file(const std::string& table, const std::string& option, const std::string& path);

/// "xxh128:" and the XXH3 hash of 128 bits in hexadecimal digits.
std::string fingerprint_of(std::string_view bytes);

/// Throws heed::Refused where bytes are not UTF-8, with `name`, byte offset and line.
void require_utf8(std::string_view bytes, const std::string& name);

/// The text in a file. Throws heed::Refused where the path is empty, missing, not a regular file or not readable, and
/// where `text_of` does.
Text read_text_file(const std::string& path);

/// UTF-8 without a byte-order mark, which says how a file is written, and is no part of its text.
std::string_view without_mark(std::string_view bytes);

/// The text in UTF-8 bytes; `name` stands in errors. Line ends and a byte-order mark are characters like any other.
/// Throws heed::Refused where the text is empty, is not UTF-8 (with byte offset and line), or has more than 65536
/// different characters.
Text text_of(std::string_view bytes, const std::string& name);

/// UTF-8 as code points; throws heed::Refused with `name`, the byte offset and the line of the first byte that is not
/// UTF-8 (overlong forms and surrogates are not).
std::u32string from_utf8(std::string_view bytes, const std::string& name);

/// Code points, which must be valid, as UTF-8.
std::string to_utf8(std::u32string_view characters);

/// The token of a character, or -1 where the alphabet does not have it.
std::int32_t find_character(std::span<const char32_t> alphabet, char32_t character);

/// A character as errors show it: `"é" (U+00E9)`, `U+000A` where it can't be seen.
std::string show_character(char32_t character);

} // namespace heed
