// Text as characters: Unicode code points, from UTF-8 and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

/// Checks what an option names before it is opened, and returns it as errors name it: [data] path = "input.txt". Throws
/// heed::Refused where the path is empty, missing or not a regular file, and where the file has more bytes than this
/// machine has memory.
std::string require_data_file(const std::string& table, const std::string& option, const std::string& path);

/// A file's bytes. Option `option` of [table] named it, and stands in errors. Throws heed::Refused where the path is
/// empty, missing, not a regular file or not readable, and where the file is empty.
std::string read_data_file(const std::string& table, const std::string& option, const std::string& path);

/// "xxh128:" and the XXH3 hash of 128 bits in hexadecimal digits.
std::string fingerprint_of(std::string_view bytes);

/// Throws heed::Refused where bytes are not UTF-8, with `name`, byte offset and line.
void require_utf8(std::string_view bytes, const std::string& name);

/// Throws heed::Refused for what is not UTF-8: bytes that begin at this offset of `name`, in this line. Where its first
/// bytes are those of UTF-16, UTF-32 or a compressed file, the message says so.
/// @param beginning  the first bytes of all, some eight
[[noreturn]] void refuse_utf8(const std::string& name, std::string_view beginning, std::string_view bytes,
                              std::uint64_t offset, std::int64_t line);

/// UTF-8 without a byte-order mark, which says how a file is written, and is no part of its text.
std::string_view without_mark(std::string_view bytes);

/// UTF-8 as code points; throws heed::Refused with `name`, the byte offset and the line of the first byte that is not
/// UTF-8 (overlong forms and surrogates are not).
std::u32string from_utf8(std::string_view bytes, const std::string& name);

/// Code points, which must be valid, as UTF-8.
std::string to_utf8(std::u32string_view characters);

/// A character as errors show it: `"é" (U+00E9)`, `U+000A` where it can't be seen.
std::string show_character(char32_t character);

} // namespace heed
