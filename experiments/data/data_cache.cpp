#include "experiments/data/data_cache.hpp"

#include "autograd/fork_safe.hpp"
#include "experiments/system/content_hash.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/mapped_file.hpp"
#include "experiments/system/own_folder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <utility>

namespace heed {

namespace {

namespace fs = std::filesystem;

// Format of a cache file: a header; sections, each at a multiple of `step`; an index with the key and, for each
// section, its position and checksum; a tail with the position and checksum of the index.
constexpr std::size_t step = 64;
constexpr std::string_view head = "Heed: made of data files, and made anew where it is missing. 1\n\n";
static_assert(head.size() == step);
constexpr std::string_view tail_mark = "Heed's data ends";
constexpr std::size_t hash_digits = 32, tail_size = 2 * sizeof(std::uint64_t) + hash_digits + tail_mark.size();
static_assert(tail_size == step);
constexpr const char* suffix = ".kept";

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Section {
  std::string name;
  std::uint64_t begin = 0, size = 0;
  Check check = Check::at_once;
  std::string hash;
};

/// Thrown if the data cannot be cached; it is then made in memory.
struct NotCached {};

/// Writes to a temporary file, which replaces the cache file when it is complete.
class FileWriter final : public DataCacheWriter {
public:
  FileWriter(const fs::path& path, std::string key) : path_(path), key_(std::move(key)) {
    try {
      file_.emplace(path);
      put(head);
    } catch (const Failed&) {
      throw NotCached();
    }
  }

  void begin(const std::string& name, Check check, std::uint64_t bytes) override {
    std::error_code error;
    const fs::space_info space = fs::space(path_.parent_path(), error);
    if (!error && bytes > space.available / 2) throw NotCached(); // leave space for other programs
    end_section();
    sections_.push_back({name, at_, 0, check, {}});
    hash_.emplace();
  }

  void write(std::span<const std::byte> bytes) override {
    hash_->add(as_text(bytes));
    sections_.back().size += bytes.size();
    put(as_text(bytes));
  }

  void finish() {
    end_section();
    FieldWriter index;
    index.text(key_).number(std::ssize(sections_));
    for (const Section& section : sections_)
      index.text(section.name)
          .number(static_cast<std::int64_t>(section.begin))
          .number(static_cast<std::int64_t>(section.size))
          .number(section.check == Check::when_used)
          .text(section.hash);
    const std::string_view bytes = as_text(index.bytes());
    const std::array<std::uint64_t, 2> place = {at_, bytes.size()};
    put(bytes);
    put(as_text(std::as_bytes(std::span(place))));
    put(content_hash(bytes));
    put(tail_mark);
    try {
      file_->finish(Durability::process); // checksums detect damage by a power failure
    } catch (const Failed&) {
      throw NotCached();
    }
  }

private:
  void put(std::string_view bytes) {
    try {
      file_->write(bytes);
    } catch (const Failed&) {
      throw NotCached();
    }
    at_ += bytes.size();
  }

  void end_section() {
    if (hash_) sections_.back().hash = hash_->text();
    hash_.reset();
    constexpr std::array<char, step> zeros{};
    if (at_ % step != 0) put({zeros.data(), step - at_ % step});
  }

  fs::path path_;
  std::string key_;
  std::optional<NewFile> file_;
  std::uint64_t at_ = 0;
  std::vector<Section> sections_;
  std::optional<ContentHash> hash_; // of the section in progress
};

class DataCacheFile final : public DataCache {
public:
  /// Null if the file does not exist, is damaged, or has another key.
  static std::shared_ptr<const DataCache> open(const fs::path& path, const std::string& key) {
    auto mapped = MappedFile::open(path);
    if (!mapped) return nullptr;
    std::shared_ptr<DataCacheFile> file(new DataCacheFile(std::move(*mapped), path));
    return file->read_index(key) && file->all_at_once_whole() ? file : nullptr;
  }

  std::span<const std::byte> section(std::string_view name) const override {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    return found == sections_.end() ? std::span<const std::byte>() : bytes_of(*found);
  }

  bool is_whole(std::string_view name) const override {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    if (found == sections_.end()) return false;
    if (is_whole(*found)) {
      used_.lock()->push_back(&*found);
      return true;
    }
    std::error_code gone;
    fs::remove(path_, gone);
    return false;
  }

  std::string problem() const override {
    const MappedFile::State now = file_.state();
    if (!file_.lost() && now.size == file_.bytes().size()) {
      if (now.changed == changed_) return {};
      // The only change may be that the file was removed or marked as used.
      const auto used = used_.lock(); // one thread at a time checks
      if (now.changed == changed_) return {};
      if (all_at_once_whole() &&
          std::ranges::all_of(*used, [&](const Section* section) { return is_whole(*section); })) {
        changed_ = now.changed;
        return {};
      }
    }
    return fmt::format("'{}' was shortened or changed while it was read; run again, and it is made anew",
                       path_.string());
  }

private:
  DataCacheFile(MappedFile file, const fs::path& path)
      : file_(std::move(file)), path_(path), changed_(file_.state().changed) {}

  bool is_whole(const Section& section) const { return content_hash(as_text(bytes_of(section))) == section.hash; }

  std::span<const std::byte> bytes_of(const Section& section) const {
    return file_.bytes().subspan(section.begin, section.size);
  }

  bool read_index(const std::string& key) {
    const std::span<const std::byte> all = file_.bytes();
    if (all.size() < head.size() + tail_size || !as_text(all).starts_with(head)) return false;
    const std::span<const std::byte> tail = all.last(tail_size);
    std::array<std::uint64_t, 2> place{};
    std::memcpy(place.data(), tail.data(), sizeof place);
    const std::string_view words = as_text(tail).substr(sizeof place);
    const std::uint64_t end = all.size() - tail_size; // end of the index
    if (words.substr(hash_digits) != tail_mark || place[0] > end || place[1] != end - place[0]) return false;
    const std::span<const std::byte> index = all.subspan(place[0], place[1]);
    if (content_hash(as_text(index)) != words.substr(0, hash_digits)) return false;
    FieldReader fields(index);
    if (fields.text() != key) return false;
    for (std::int64_t left = fields.number(); left > 0 && fields; --left) {
      Section section;
      section.name = fields.text();
      section.begin = static_cast<std::uint64_t>(fields.number());
      section.size = static_cast<std::uint64_t>(fields.number());
      section.check = fields.number() != 0 ? Check::when_used : Check::at_once;
      section.hash = fields.text();
      if (section.begin % step != 0 || section.begin > place[0] || section.size > place[0] - section.begin ||
          section.hash.empty())
        return false;
      sections_.push_back(std::move(section));
    }
    return fields.whole();
  }

  bool all_at_once_whole() const {
    return std::ranges::all_of(sections_, [&](const Section& section) {
      return section.check == Check::when_used || is_whole(section);
    });
  }

  MappedFile file_;
  fs::path path_;
  std::vector<Section> sections_;
  mutable ForkSafe<std::vector<const Section*>> used_; // sections whose checksum was verified when they were used
  mutable std::atomic<std::int64_t> changed_;          // the file's change time when its content was verified
};

class DataInMemory final : public DataCache, public DataCacheWriter {
public:
  void begin(const std::string& name, Check, std::uint64_t bytes) override {
    sections_.push_back({name, {}});
    sections_.back().bytes.reserve(bytes);
  }
  void write(std::span<const std::byte> bytes) override {
    std::vector<std::byte>& to = sections_.back().bytes;
    to.insert(to.end(), bytes.begin(), bytes.end());
  }

  std::span<const std::byte> section(std::string_view name) const override {
    const auto found = std::ranges::find(sections_, name, &Named::name);
    return found == sections_.end() ? std::span<const std::byte>() : found->bytes;
  }
  bool is_whole(std::string_view) const override { return true; }

private:
  struct Named {
    std::string name;
    std::vector<std::byte> bytes;
  };
  std::vector<Named> sections_;
};

/// Updates the file's time to mark it as used, at most once an hour.
void mark_used(const fs::path& path) {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  if (const auto then = fs::last_write_time(path, error); !error && now - then > std::chrono::hours(1))
    fs::last_write_time(path, now, error);
}

/// Removes files that were unused for too long, and the oldest files beyond the size limit, but not `newest`.
void tidy(const DataCachePlace& place, const fs::path& newest) {
  remove_leftovers(place.folder);
  struct Found {
    fs::file_time_type time;
    fs::path path;
    std::uint64_t bytes;
  };
  std::vector<Found> found;
  std::error_code error;
  for (fs::directory_iterator it(place.folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const fs::path& path = it->path();
    if (path.filename().string().starts_with('.') || path == newest || !it->is_regular_file(gone)) continue;
    const auto time = fs::last_write_time(path, gone);
    const auto bytes = fs::file_size(path, gone);
    if (!gone) found.push_back({time, path, bytes});
  }
  std::ranges::sort(found, std::greater{}, &Found::time);
  std::uint64_t bytes = fs::file_size(newest, error);
  const auto now = fs::file_time_type::clock::now();
  for (const Found& file : found) {
    bytes += file.bytes;
    const double days = std::chrono::duration<double, std::ratio<86400>>(now - file.time).count();
    if (bytes <= place.most_bytes && days <= place.most_days) continue;
    bytes -= file.bytes;
    std::error_code gone;
    fs::remove(file.path, gone); // processes that have it mapped can still use it
  }
}

} // namespace

DataCachePlace data_cache_place(std::uint64_t data_bytes) {
  if (data_bytes < least_cached_bytes) return {};
  if (const FoundFolder cache = own_folder(cache_folder("data")); is_local(cache)) return {cache.path};
  if (const FoundFolder temporary = own_folder(temporary_folder("data")); is_local(temporary)) return {temporary.path};
  return {};
}

std::shared_ptr<const DataCache> made_data(const std::function<void(DataCacheWriter&)>& make) {
  const auto data = std::make_shared<DataInMemory>();
  make(*data);
  return data;
}

std::shared_ptr<const DataCache> data_cache(const DataCachePlace& place, const std::string& key,
                                            const std::function<void(DataCacheWriter&)>& make) {
  if (place.folder.empty()) return made_data(make);
  const fs::path path = place.folder / (content_hash(key) + suffix);
  const auto find = [&] {
    mark_used(path); // first, because marking changes the file
    return DataCacheFile::open(path, key);
  };
  if (auto found = find()) return found;
  // One process makes the file; the others wait and then read it. After the maximum wait they also make it, with the
  // same bytes.
  const FolderLock lock(place.folder, std::chrono::minutes(10));
  if (auto found = find()) return found;
  try {
    FileWriter writer(path, key);
    make(writer);
    writer.finish();
  } catch (const NotCached&) {
    return made_data(make);
  }
  tidy(place, path);
  auto found = find();
  return found ? found : made_data(make);
}

FieldWriter& FieldWriter::number(std::int64_t value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

FieldWriter& FieldWriter::real(double value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

FieldWriter& FieldWriter::text(std::string_view value) {
  number(static_cast<std::int64_t>(value.size()));
  bytes_ += value;
  return *this;
}

std::span<const std::byte> FieldReader::take(std::size_t size) {
  if (size > bytes_.size()) {
    beyond_ = true;
    bytes_ = {};
    return {};
  }
  const auto out = bytes_.first(size);
  bytes_ = bytes_.subspan(size);
  return out;
}

std::int64_t FieldReader::number() {
  std::int64_t value = 0;
  if (const auto from = take(sizeof value); !from.empty()) std::memcpy(&value, from.data(), sizeof value);
  return value;
}

double FieldReader::real() {
  double value = 0;
  if (const auto from = take(sizeof value); !from.empty()) std::memcpy(&value, from.data(), sizeof value);
  return value;
}

std::string_view FieldReader::text() { return as_text(take(static_cast<std::size_t>(number()))); }

} // namespace heed
