// A cache for data that is made from large data files, shared by all processes. The data is in a file of Heed's own,
// which the processes map into memory; without such a file, it is in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace heed {

/// Cached data: named sections of bytes. Each section is aligned for any number type.
class DataCache {
public:
  virtual ~DataCache() = default;
  /// The section of this name; empty if there is none.
  virtual std::span<const std::byte> section(std::string_view name) const = 0;
  /// For a section with Check::when_used: true if its checksum is correct. Reads the whole section. If the checksum is
  /// wrong, the file is removed, so that the next process makes it again.
  virtual bool is_whole(std::string_view name) const = 0;
  /// Why the data read so far may differ from the data written, because somebody shortened the file or wrote to it;
  /// empty if nobody did. Call it after reading and before using the data. It can be called on any thread and mostly
  /// takes one system call.
  virtual std::string problem() const { return {}; }

  /// A section as numbers.
  template <class T> std::span<const T> numbers(std::string_view name) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::span<const std::byte> bytes = section(name);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// When a section's checksum is verified: when the file is opened, or when the section is used, by a call of
/// `is_whole`.
enum class Check { at_once, when_used };

/// Writes named sections, one after another.
class DataCacheWriter {
public:
  virtual ~DataCacheWriter() = default;
  /// @param bytes  the approximate size of the section
  virtual void begin(const std::string& name, Check check = Check::at_once, std::uint64_t bytes = 0) = 0;
  /// Appends to the section that was begun last.
  virtual void write(std::span<const std::byte> bytes) = 0;
  template <class T> void write_numbers(std::span<const T> numbers) { write(std::as_bytes(numbers)); }
};

/// The folder of cached files, and its limits.
struct DataCachePlace {
  std::filesystem::path folder; ///< empty: nothing is cached
  /// When a file is added, files that were not used for `most_days` are removed, and then the oldest files, until the
  /// total is at most `most_bytes`.
  std::uint64_t most_bytes = std::uint64_t{32} << 30;
  double most_days = 14;
};

/// $XDG_CACHE_HOME/heed/data (~/.cache/heed/data). If several machines share this folder or it is not writable:
/// heed-data-UID in the folder for temporary files. If the same is true of that folder: no folder. Data of less than
/// `least_cached_bytes` is not cached, because it is made quickly.
DataCachePlace data_cache_place(std::uint64_t data_bytes);
inline constexpr std::uint64_t least_cached_bytes = std::uint64_t{4} << 20;

/// The cached data for this key. If there is none, calls `make` and caches the data that it writes. `key` states
/// everything that the data depends on. A damaged file is made again. If another process makes the file, this process
/// waits for it. If the data cannot be cached (a full disk, no folder), it is in memory, and `make` may be called a
/// second time for this. Exceptions of `make` are passed on.
std::shared_ptr<const DataCache> data_cache(const DataCachePlace& place, const std::string& key,
                                            const std::function<void(DataCacheWriter&)>& make);

/// The data that `make` writes, in memory.
std::shared_ptr<const DataCache> made_data(const std::function<void(DataCacheWriter&)>& make);

/// Serialises numbers and texts, for a section with mixed contents.
class FieldWriter {
public:
  FieldWriter& number(std::int64_t value);
  FieldWriter& real(double value);
  FieldWriter& text(std::string_view value);
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

private:
  std::string bytes_;
};

/// Reads the fields of a FieldWriter. A field beyond the end is 0 or empty, and then `whole` is false.
class FieldReader {
public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::int64_t number();
  double real();
  std::string_view text();
  /// True if no field so far was beyond the end.
  explicit operator bool() const { return !beyond_; }
  /// True if no field was beyond the end and all bytes were read.
  bool whole() const { return !beyond_ && bytes_.empty(); }

private:
  std::span<const std::byte> take(std::size_t size);
  std::span<const std::byte> bytes_;
  bool beyond_ = false;
};

} // namespace heed
