// The one seam through which Heed writes files, and reads them back. A file appears under its final name only when it
// is whole: it is written aside in the same folder, synchronised to the disk and renamed.
#pragma once

#include "autograd/error.hpp"
#include "experiments/system/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

/// What a reader made of some bytes: a value, or why there is none. Readers never throw for what the bytes hold.
template <class T> struct Parsed {
  std::optional<T> value;
  std::string error; ///< empty where there is a value

  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  T& operator*() { return *value; }
  const T* operator->() const { return &*value; }
  T* operator->() { return &*value; }

  static Parsed ok(T v) { return {std::optional<T>(std::move(v)), {}}; }
  static Parsed wrong(std::string why) { return {std::nullopt, std::move(why)}; }
};

/// How much a write must survive. `disk`: the machine losing power. `content`: the same, but that the file may then be as
/// it was before; it stays once anything in its folder was written for `disk`. `process`: this process dying at any moment.
enum class Durability { disk, content, process };

/// Replaces the whole file, or leaves it as it was. Throws heed::Failed that names the path, what went wrong and how to
/// mend it.
void write_file(const std::filesystem::path& path, std::string_view bytes, Durability durability = Durability::disk);

/// A file that is written in parts: aside, until `finish` gives it its name. Without that nothing is left of it.
/// Everything throws heed::Failed, as write_file does.
class NewFile {
public:
  explicit NewFile(const std::filesystem::path& path);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  void finish(Durability durability = Durability::disk);

private:
  std::filesystem::path path_, aside_; // aside_: empty once it has its name
  Descriptor held_;
};

/// Adds `line` and a newline to the end of the file, which is made if it is missing. A write that fails half-way is
/// taken back. Throws heed::Failed.
void append_line(const std::filesystem::path& path, std::string_view line);

/// A regular file, made if it is missing, to write to its end: a pipe, a device or a link there is never waited for, nor
/// followed. Throws heed::Failed.
Descriptor open_to_append(const std::filesystem::path& path);

/// Has what was written so far survive the machine losing power; a file that is missing is fine. Throws heed::Failed.
void synchronise_file(const std::filesystem::path& path);

/// More than any record of a run or a sweep has.
inline constexpr std::uint64_t largest_record = std::uint64_t{1} << 30;

/// The content of a regular file of at most so many bytes; the error names the path and says why it could not be read.
/// It never waits: a pipe or a device is an error.
Parsed<std::string> read_file(const std::filesystem::path& path, std::uint64_t most = largest_record);

/// Of a regular file the first bytes, or as many as it has.
Parsed<std::string> read_beginning(const std::filesystem::path& path, std::uint64_t bytes);

/// Which file it is, and when it last changed: of two that are equal, nobody wrote to the file in between, as far as
/// its times tell.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t written = 0, changed = 0; ///< its content, and anything of it; nanoseconds since 1970
  bool operator==(const FileIdentity&) const = default;
};

/// A regular file that is read in parts.
class FileParts {
public:
  /// The error is that of read_file.
  static Parsed<FileParts> open(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; } ///< when it was opened
  /// Now; all 0 where the system does not tell.
  FileIdentity identity() const;
  /// The bytes from `begin` on, as many as `to` has. Returns why they can't be read; empty where they were.
  std::string read(std::uint64_t begin, std::span<std::byte> to) const;

private:
  FileParts(const std::filesystem::path& path, Descriptor fd, std::uint64_t size)
      : path_(path), fd_(std::move(fd)), size_(size) {}
  std::filesystem::path path_;
  Descriptor fd_;
  std::uint64_t size_;
};

/// Makes a folder and those above it. Throws heed::Failed.
void make_folder(const std::filesystem::path& path);

/// Removes a file; one that is missing is fine. Throws heed::Failed.
void remove_file(const std::filesystem::path& path);

/// Removes what writers that were killed left aside in a folder. What a living one is writing there stays.
void remove_leftovers(const std::filesystem::path& folder);

/// Makes the output folder, and finds out by writing that it can be written. Throws heed::Refused: nothing has run yet.
void make_output_folder(const std::filesystem::path& path);

/// While it lives, `hook` is asked before each operation that changes the disk, with the path of the file under its
/// final name; an errno that it returns (ENOSPC, ...) is what the operation then fails with, 0 lets it pass. For tests.
class WriteHook {
public:
  explicit WriteHook(std::function<int(const std::filesystem::path&)> hook);
  ~WriteHook();
  WriteHook(const WriteHook&) = delete;
  WriteHook& operator=(const WriteHook&) = delete;
};

} // namespace heed
