#include "experiments/data/text_file.hpp"

#include "autograd/error.hpp"
#include "experiments/config/values.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/machine.hpp"
#include "experiments/system/text.hpp"
#include "experiments/system/working_folder.hpp"

#include <boost/locale/utf.hpp>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <limits>
#include <system_error>
#include <vector>

namespace heed {

namespace {

namespace utf = boost::locale::utf;
constexpr double gigabyte = 1e9;

/// Calls `use` with each character in turn.
template <class Use> void each_character(std::string_view bytes, const std::string& name, Use use) {
  const std::size_t right = each_utf8(bytes, use);
  if (right < bytes.size())
    refuse_utf8(name, bytes.substr(0, 8), bytes.substr(right), right,
                1 + std::ranges::count(bytes.substr(0, right), '\n'));
}

/// "; did you mean 'input.txt'?", from the files in the same folder; empty if none has a name like this.
std::string near_data_file(const std::filesystem::path& file) {
  constexpr std::size_t most_files = 10000;
  std::vector<std::string> names;
  std::error_code error;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  for (std::filesystem::directory_iterator i(folder, error), end; !error && i != end && names.size() < most_files;
       i.increment(error))
    if (std::error_code unknown; i->is_regular_file(unknown)) names.push_back(i->path().filename().string());
  std::ranges::sort(names);
  return did_you_mean(file.filename().string(), names);
}

} // namespace

std::string require_data_file(const std::string& table, const std::string& option, const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty())
    throw Refused(fmt::format("[{0}] {1} is empty, and the task reads a file: name one, {0}.{1}=FILE", table, option));
  const std::string name = fmt::format("[{}] {} = \"{}\"", table, option, path);
  std::error_code error;
  const fs::path place = WorkingFolder::place_of(path);
  const fs::file_status status = fs::status(place, error);
  if (status.type() == fs::file_type::not_found) {
    const std::string from = fs::path(path).is_absolute()
                                 ? ""
                                 : fmt::format(" (looked for it from {})", WorkingFolder::now().string());
    throw Refused(fmt::format("{} does not exist{}{}", name, from, near_data_file(place)));
  }
  if (error) throw Refused(fmt::format("{} cannot be read: {}", name, error.message()));
  if (fs::is_directory(status)) throw Refused(fmt::format("{} is a directory; name a text file", name));
  if (!fs::is_regular_file(status))
    throw Refused(fmt::format("{} is not a regular file, which can be read again; copy it to one", name));

  const auto size = static_cast<double>(fs::file_size(place, error));
  if (const double memory = usable_memory(); !error && memory > 0 && size > memory)
    throw Refused(fmt::format("{} has {:.3g} GB, and this machine has {:.3g} GB of memory left for it: name a part of "
                              "it, or run where there is more",
                              name, size / gigabyte, memory / gigabyte));
  return name;
}

std::string read_data_file(const std::string& table, const std::string& option, const std::string& path) {
  const std::string name = require_data_file(table, option, path);
  auto read = read_file(WorkingFolder::place_of(path), std::numeric_limits<std::uint64_t>::max());
  if (!read) throw Refused(fmt::format("{}: {}", name, read.error));
  std::string bytes = std::move(*read);
  if (bytes.empty()) throw Refused(fmt::format("{} is empty; the task needs something to read in it", name));
  return bytes;
}

std::string fingerprint_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return fmt::format("xxh128:{:016x}{:016x}", hash.high64, hash.low64);
}

namespace {

/// The probable format of a file that is not UTF-8, by its first bytes, and how to convert it to text.
std::string advice(std::string_view beginning) {
  struct Kind {
    std::string_view mark, is, command;
  };
  using namespace std::string_view_literals;
  static constexpr std::array kinds{
      Kind{"\xff\xfe\0\0"sv, "encoded in UTF-32", "iconv -f UTF-32 -t UTF-8"},
      Kind{"\0\0\xfe\xff"sv, "encoded in UTF-32", "iconv -f UTF-32 -t UTF-8"},
      Kind{"\xff\xfe"sv, "encoded in UTF-16", "iconv -f UTF-16 -t UTF-8"},
      Kind{"\xfe\xff"sv, "encoded in UTF-16", "iconv -f UTF-16 -t UTF-8"},
      Kind{"\x1f\x8b"sv, "compressed by gzip", "gzip -dc"},
      Kind{"BZh"sv, "compressed by bzip2", "bzip2 -dc"},
      Kind{"\xfd"
           "7zXZ"sv,
           "compressed by xz", "xz -dc"},
      Kind{"\x28\xb5\x2f\xfd"sv, "compressed by zstd", "zstd -dc"},
      Kind{"PK\x03\x04"sv, "a zip archive", "unzip -p"},
  };
  for (const Kind& kind : kinds)
    if (beginning.starts_with(kind.mark))
      return fmt::format("it looks like a file that is {}: {} FILE > NEW_FILE", kind.is, kind.command);
  return "to convert one: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW_FILE";
}

} // namespace

void refuse_utf8(const std::string& name, std::string_view beginning, std::string_view bytes, std::uint64_t offset,
                 std::int64_t line) {
  const char* begin = bytes.data();
  const bool cut_off = utf::utf_traits<char>::decode(begin, begin + bytes.size()) == utf::incomplete;
  throw Refused(fmt::format(
      "{} is not UTF-8: byte 0x{:02X} at byte offset {}, line {}, {}; a text must be UTF-8 throughout ({})", name,
      static_cast<unsigned char>(bytes.front()), offset, line,
      cut_off ? "begins a character that the end cuts off" : "does not begin a character", advice(beginning)));
}

void require_utf8(std::string_view bytes, const std::string& name) {
  each_character(bytes, name, [](char32_t) {});
}

std::string_view without_mark(std::string_view bytes) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return bytes.starts_with(mark) ? bytes.substr(mark.size()) : bytes;
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

std::string show_character(char32_t character) {
  const auto number = static_cast<std::uint32_t>(character);
  const bool visible = number > 0x20 && number != 0x7f && !(number >= 0x80 && number <= 0xa0);
  const std::string code = fmt::format("U+{:04X}", number);
  return visible ? fmt::format("\"{}\" ({})", to_utf8({&character, 1}), code) : code;
}

} // namespace heed
