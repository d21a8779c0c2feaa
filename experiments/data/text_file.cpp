#include "experiments/data/text_file.hpp"

#include "autograd/error.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/machine.hpp"

#include <boost/locale/utf.hpp>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <limits>

namespace heed {

namespace {

namespace utf = boost::locale::utf;
constexpr std::size_t code_points = 0x110000;
constexpr double gigabyte = 1e9;

/// Calls `use` with each character in turn.
template <class Use> void each_character(std::string_view bytes, const std::string& name, Use use) {
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  for (const char* p = begin; p != end;) {
    const char* const start = p;
    const utf::code_point character = utf::utf_traits<char>::decode(p, end);
    if (character == utf::illegal || character == utf::incomplete)
      throw Refused(fmt::format(
          "{} is not UTF-8: byte 0x{:02X} at byte offset {}, line {}, {}; a text must be UTF-8 throughout (to convert "
          "one: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE)",
          name, static_cast<unsigned char>(*start), start - begin, 1 + std::count(begin, start, '\n'),
          character == utf::incomplete ? "begins a character that the end cuts off" : "does not begin a character"));
    use(static_cast<char32_t>(character));
  }
}

} // namespace

std::string read_data_file(const std::string& table, const std::string& option, const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty())
    throw Refused(fmt::format("[{0}] {1} is empty, and the task reads a file: name one, {0}.{1}=FILE", table, option));
  const std::string name = fmt::format("[{}] {} = \"{}\"", table, option, path);
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    const fs::path here = fs::current_path(error);
    const std::string from = fs::path(path).is_absolute() ? "" : fmt::format(" (looked for it from {})", here.string());
    throw Refused(fmt::format("{} does not exist{}", name, from));
  }
  if (error) throw Refused(fmt::format("{} cannot be read: {}", name, error.message()));
  if (fs::is_directory(status)) throw Refused(fmt::format("{} is a directory; name a text file", name));
  if (!fs::is_regular_file(status))
    throw Refused(fmt::format("{} is not a regular file, which can be read again; copy it to one", name));

  const auto size = static_cast<double>(fs::file_size(path, error));
  if (const double memory = usable_memory(); !error && memory > 0 && size > memory)
    throw Refused(fmt::format("{} has {:.3g} GB, and this machine has {:.3g} GB of memory left for it: name a part of "
                              "it, or run where there is more",
                              name, size / gigabyte, memory / gigabyte));
  auto read = read_file(path, std::numeric_limits<std::uint64_t>::max());
  if (!read) throw Refused(fmt::format("{}: {}", name, read.error));
  std::string bytes = std::move(*read);
  if (bytes.empty()) throw Refused(fmt::format("{} is empty; the task needs something to read in it", name));
  return bytes;
}

std::string fingerprint_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("xxh128:{:016x}{:016x}", hash.high64, hash.low64);
}

void require_utf8(std::string_view bytes, const std::string& name) {
  each_character(bytes, name, [](char32_t) {});
}

std::string_view without_mark(std::string_view bytes) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return bytes.starts_with(mark) ? bytes.substr(mark.size()) : bytes;
}

Text read_text_file(const std::string& path) {
  const std::string bytes = read_data_file("data", "path", path);
  return text_of(bytes, fmt::format("[data] path = \"{}\"", path));
}

Text text_of(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) throw Refused(fmt::format("{} is empty; a text needs characters to learn from", name));
  Text text;

  // Twice over the bytes, so that the code points themselves are never held.
  std::vector<bool> occurs(code_points);
  std::size_t length = 0, greatest = 0;
  each_character(bytes, name, [&](char32_t c) {
    occurs[c] = true;
    greatest = std::max<std::size_t>(greatest, c);
    ++length;
  });
  for (std::size_t c = 0; c <= greatest; ++c)
    if (occurs[c]) text.alphabet.push_back(static_cast<char32_t>(c));
  constexpr std::size_t most = std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1;
  if (text.alphabet.size() > most)
    throw Refused(fmt::format("{} has {} different characters; at most {} can be told apart", name,
                              text.alphabet.size(), most));

  std::vector<std::uint16_t> token_of(text.alphabet.back() + std::size_t{1});
  for (std::size_t token = 0; token < text.alphabet.size(); ++token)
    token_of[text.alphabet[token]] = static_cast<std::uint16_t>(token);
  text.tokens.reserve(length);
  each_character(bytes, name, [&](char32_t c) { text.tokens.push_back(token_of[c]); });
  text.fingerprint = fingerprint_of(bytes);
  return text;
}

std::u32string from_utf8(std::string_view bytes, const std::string& name) {
  std::u32string characters;
  each_character(bytes, name, [&](char32_t c) { characters.push_back(c); });
  return characters;
}

std::string to_utf8(std::u32string_view characters) {
  std::string bytes;
  for (const char32_t c : characters) utf::utf_traits<char>::encode(c, std::back_inserter(bytes));
  return bytes;
}

std::int32_t find_character(std::span<const char32_t> alphabet, char32_t character) {
  const auto found = std::ranges::lower_bound(alphabet, character);
  if (found == alphabet.end() || *found != character) return -1;
  return static_cast<std::int32_t>(found - alphabet.begin());
}

std::string show_character(char32_t character) {
  const auto number = static_cast<std::uint32_t>(character);
  const bool visible = number > 0x20 && number != 0x7f && !(number >= 0x80 && number <= 0xa0);
  const std::string code = fmt::format("U+{:04X}", number);
  return visible ? fmt::format("\"{}\" ({})", to_utf8({&character, 1}), code) : code;
}

} // namespace heed
