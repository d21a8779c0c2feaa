#include "experiments/data/data_file.hpp"

#include "autograd/error.hpp"
#include "experiments/data/text_file.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/own_folder.hpp"
#include "experiments/system/working_folder.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace heed {

namespace {

constexpr std::size_t piece_size = std::size_t{1} << 20;

constexpr std::string_view white_space = " \t\r\n\v\f";

/// The size of the first piece of these bytes, given that more bytes follow; 0: no piece ends in them.
std::size_t cut_size(std::string_view bytes, Cut cut) {
  if (cut == Cut::anywhere) return bytes.size();
  if (cut == Cut::nowhere) return 0;
  if (cut == Cut::after_space) {
    const std::size_t last = bytes.find_last_of(white_space);
    return last == bytes.npos ? 0 : last + 1;
  }
  // An incomplete character starts in the last three bytes.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const std::size_t size = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    return size > back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

FileParts opened(const std::string& table, const std::string& option, const std::string& path, std::string& name) {
  name = require_data_file(table, option, path);
  auto parts = FileParts::open(WorkingFolder::place_of(path));
  if (!parts) throw Refused(fmt::format("{}: {}", name, parts.error));
  if (parts->size() == 0) throw Refused(fmt::format("{} is empty; the task needs something to read in it", name));
  return std::move(*parts);
}

} // namespace

DataFile::DataFile(const std::string& table, const std::string& option, const std::string& path)
    : path_(WorkingFolder::place_of(path).string()), parts_(opened(table, option, path, name_)) {}

void DataFile::each_piece(std::uint64_t begin, std::uint64_t end, Cut cut,
                          const std::function<void(std::string_view, std::uint64_t)>& use) const {
  std::string bytes; // of a piece, after the rest of the previous one
  while (begin < end) {
    const std::size_t had = bytes.size();
    const std::uint64_t left = end - begin - had;
    const std::uint64_t more = cut == Cut::nowhere ? left : std::min<std::uint64_t>(left, std::max(piece_size, had));
    bytes.resize(had + more);
    if (const std::string why = parts_.read(begin + had, std::as_writable_bytes(std::span(bytes).subspan(had)));
        !why.empty())
      throw Refused(fmt::format("{}: {}", name_, why));
    const std::size_t size = more == left ? bytes.size() : cut_size(bytes, cut);
    if (size == 0) continue; // no piece ends in these bytes
    use(std::string_view(bytes).substr(0, size), begin);
    begin += size;
    bytes.erase(0, size);
  }
}

void DataFile::refuse_character(std::uint64_t at) const {
  std::int64_t lines = 1;
  each_piece(0, at, Cut::anywhere,
             [&](std::string_view piece, std::uint64_t) { lines += std::ranges::count(piece, '\n'); });
  std::string beginning, rest;
  each_piece(0, std::min<std::uint64_t>(8, size()), Cut::nowhere,
             [&](std::string_view piece, std::uint64_t) { beginning = piece; });
  each_piece(at, std::min(at + 4, size()), Cut::nowhere, [&](std::string_view piece, std::uint64_t) { rest = piece; });
  refuse_utf8(name_, beginning, rest, at, lines);
}

void DataFile::require_utf8() const {
  each_character(0, size(), [](char32_t) {});
}

std::uint64_t DataFile::mark_size() const {
  std::string beginning;
  each_piece(0, std::min<std::uint64_t>(3, size()), Cut::nowhere,
             [&](std::string_view piece, std::uint64_t) { beginning = piece; });
  return beginning.size() - without_mark(beginning).size();
}

std::uint64_t DataFile::behind_space(std::uint64_t from) const {
  constexpr std::size_t step = 4096;
  std::string bytes;
  for (; from < size(); from += bytes.size()) {
    bytes.resize(std::min<std::uint64_t>(step, size() - from));
    if (const std::string why = parts_.read(from, std::as_writable_bytes(std::span(bytes))); !why.empty())
      throw Refused(fmt::format("{}: {}", name_, why));
    if (const std::size_t found = bytes.find_first_of(" \t\r\n"); found != bytes.npos) return from + found + 1;
  }
  return size();
}

std::string DataFile::fingerprint(std::uint64_t begin) const {
  ContentHash hash;
  each_piece(begin, size(), Cut::anywhere, [&](std::string_view piece, std::uint64_t) { hash.add(piece); });
  return "xxh128:" + hash.text();
}

std::string known_fingerprint(const DataFile& file, std::uint64_t begin, const DataCachePlace& place,
                              std::chrono::nanoseconds settled) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path canonical = fs::canonical(file.path(), error);
  if (place.folder.empty() || error || is_on_shared_file_system(canonical)) return file.fingerprint(begin);
  const auto record_of = [&](const FileIdentity& id, const std::string& fingerprint) {
    FieldWriter fields;
    fields.text(canonical.string()).number(static_cast<std::int64_t>(begin));
    for (const std::uint64_t number : {id.device, id.inode, id.size}) fields.number(static_cast<std::int64_t>(number));
    fields.number(id.written).number(id.changed).text(fingerprint);
    const auto bytes = fields.bytes();
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const FileIdentity before = file.identity();
  const fs::path path = place.folder / (content_hash(fmt::format("{}\n{}", begin, canonical.string())) + ".seen");
  if (const auto kept = read_file(path, 1 << 16)) {
    // The file is valid if it equals the record of this file with the stored fingerprint, followed by a checksum.
    constexpr std::size_t digits = 32, size = std::string_view("xxh128:").size() + digits;
    if (const std::string& bytes = *kept; bytes.size() > digits + size) {
      const std::string fingerprint = bytes.substr(bytes.size() - digits - size, size);
      const std::string record = record_of(before, fingerprint);
      if (bytes == record + content_hash(record)) return fingerprint;
    }
  }
  std::string fingerprint = file.fingerprint(begin);
  const auto now =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  if (before == file.identity() && before != FileIdentity{} &&
      std::max(before.written, before.changed) <= now - settled.count())
    try {
      const std::string record = record_of(before, fingerprint);
      write_file(path, record + content_hash(record), Durability::process);
    } catch (const Failed&) { // not cached; the file is read again next time
    }
  return fingerprint;
}

} // namespace heed
