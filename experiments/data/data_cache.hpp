// What was made of large data files, once for all processes: in a file of Heed's own that they map, or in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heed {

/// Named sections of bytes. Each begins where a number of any kind may lie.
class DataCache {
public:
  virtual ~DataCache() = default;
  /// Empty where there is none of the name.
  virtual std::span<const std::byte> section(std::string_view name) const = 0;
  /// Of a section that is checked when it is used: whether it is what was written. Reads all of it. A file
  /// of which it isn't goes, so that the next one makes it anew.
  virtual bool is_whole(std::string_view name) const = 0;
  /// Why what was read of it so far may be other than what was written: somebody shortened its file or wrote to it.
  /// Empty where nobody did. To be asked after reading and before what was read is used, on any thread; in most cases
  /// one call to the system.
  virtual std::string problem() const { return {}; }

  /// A section of numbers.
  template <class T> std::span<const T> numbers(std::string_view name) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const std::span<const std::byte> bytes = section(name);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// When a section's checksum is compared: as the file is opened, or by who uses the section, with `is_whole`.
enum class Check { at_once, when_used };

/// Where sections are written, one after another.
class DataCacheWriter {
public:
  virtual ~DataCacheWriter() = default;
  /// @param bytes  how many are to come, about
  virtual void begin(const std::string& name, Check check = Check::at_once, std::uint64_t bytes = 0) = 0;
  /// Adds to the section that was begun last.
  virtual void write(std::span<const std::byte> bytes) = 0;
  template <class T> void write_numbers(std::span<const T> numbers) { write(std::as_bytes(numbers)); }
};

/// Where files are kept.
struct DataCachePlace {
  std::filesystem::path folder; ///< empty: nowhere
  /// The oldest go, when a new one comes, where all come to more; and those that nobody used for so long.
  std::uint64_t most_bytes = std::uint64_t{32} << 30;
  double most_days = 14;
};

/// $XDG_CACHE_HOME/heed/data (~/.cache/heed/data), or heed-data-UID in the folder for temporary files where several
/// machines have the former, or it can't be written; nowhere where that is so of both. Of less than `least_cached_bytes`
/// of data nothing is kept: it is quickly made.
DataCachePlace data_cache_place(std::uint64_t data_bytes);
inline constexpr std::uint64_t least_cached_bytes = std::uint64_t{4} << 20;

/// What was kept under this key, or what `make` writes, which is then kept. `key` says all that this follows from. A
/// file that is damaged is made anew; one that another process makes is waited for. Where it can't be kept (a full
/// disk, no folder), it is in memory, and `make` may be called twice for that. What `make` throws is passed on.
std::shared_ptr<const DataCache> data_cache(const DataCachePlace& place, const std::string& key,
                                            const std::function<void(DataCacheWriter&)>& make);

/// What `make` writes, in memory.
std::shared_ptr<const DataCache> made_data(const std::function<void(DataCacheWriter&)>& make);

/// Numbers and texts one after another, for a section that is none of either.
class FieldWriter {
public:
  FieldWriter& number(std::int64_t value);
  FieldWriter& real(double value);
  FieldWriter& text(std::string_view value);
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

private:
  std::string bytes_;
};

/// The same, read. What goes beyond the end is 0 or empty, and then `whole` is false.
class FieldReader {
public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::int64_t number();
  double real();
  std::string_view text();
  /// Nothing was beyond the end so far.
  explicit operator bool() const { return !beyond_; }
  /// All was there, and nothing is left.
  bool whole() const { return !beyond_ && bytes_.empty(); }

private:
  std::span<const std::byte> take(std::size_t size);
  std::span<const std::byte> bytes_;
  bool beyond_ = false;
};

} // namespace heed
