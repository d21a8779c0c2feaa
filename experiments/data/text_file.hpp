// Reads text files: access checks, content fingerprints, and conversion between UTF-8 and code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

/// Checks the file that an option names before it is opened. Returns the name of the file in errors: [data] path =
/// "input.txt". Throws heed::Refused if the path is empty, missing or not a regular file, or if the file has more bytes
/// than this machine has memory.
std::string require_data_file(const std::string& table, const std::string& option, const std::string& path);

/// The bytes of a file. Option `option` of [table] names the file; errors mention it. Throws heed::Refused if the path
/// is empty, missing, not a regular file or not readable, or if the file is empty.
std::string read_data_file(const std::string& table, const std::string& option, const std::string& path);

/// "xxh128:" and the 128-bit XXH3 hash in hexadecimal digits.
std::string fingerprint_of(std::string_view bytes);

/// Throws heed::Refused, with `name`, byte offset and line, if the bytes are not UTF-8.
void require_utf8(std::string_view bytes, const std::string& name);

/// Throws heed::Refused for bytes that are not UTF-8. They start at this offset of `name`, in this line. If the first
/// bytes of the file are those of UTF-16, UTF-32 or a compressed file, the message says so.
/// @param beginning  the first bytes of the file, about eight
[[noreturn]] void refuse_utf8(const std::string& name, std::string_view beginning, std::string_view bytes,
                              std::uint64_t offset, std::int64_t line);

/// UTF-8 text without its byte-order mark. The mark only marks the encoding and is not part of the text.
std::string_view without_mark(std::string_view bytes);

/// The code points of UTF-8 text. Throws heed::Refused with `name`, the byte offset and the line of the first invalid
/// byte. Overlong forms and surrogates are invalid.
std::u32string from_utf8(std::string_view bytes, const std::string& name);

/// Code points as UTF-8. They must be valid.
std::string to_utf8(std::u32string_view characters);

/// A character as errors show it: `"é" (U+00E9)`, or `U+000A` if it is not visible.
std::string show_character(char32_t character);

} // namespace heed
