// All of Heed's file reading and writing, for user paths. A file appears under its final name only when it is complete:
// it is written under a temporary name in the same folder, synchronised to disk and renamed.
//
// Links in user paths are followed. Files in an output folder, which another user may have created, are accessed only
// through system/output_file.hpp.
#pragma once

#include "autograd/error.hpp"
#include "experiments/system/descriptor.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace heed {

/// Why a file can't be read. `unreadable` may be temporary (permissions, a disk or a file server that does not answer,
/// too many open files) and says nothing about the file's content, so the caller must change nothing. `other_format`:
/// another version of Heed wrote the file.
enum class ReadProblem { none, missing, unreadable, damaged, other_format };

/// The result of reading some bytes: a value, or the reason why there is none. Readers never throw because of the
/// content.
template <class T> struct Parsed {
  std::optional<T> value;
  std::string error; ///< empty if there is a value
  ReadProblem problem = ReadProblem::none;

  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  T& operator*() { return *value; }
  const T* operator->() const { return &*value; }
  T* operator->() { return &*value; }

  static Parsed ok(T v) { return {std::optional<T>(std::move(v)), {}}; }
  static Parsed wrong(std::string why, ReadProblem problem = ReadProblem::damaged) {
    return {std::nullopt, std::move(why), problem};
  }
  bool is_missing() const { return problem == ReadProblem::missing; }
  bool is_unreadable() const { return problem == ReadProblem::unreadable; }
};

/// Something could not be read, and therefore nothing was done.
struct Unreadable : Failed {
  using Failed::Failed;
};

/// Throws heed::Unreadable if the problem is `unreadable`.
template <class T> void require_readable(const Parsed<T>& parsed) {
  if (parsed.is_unreadable()) throw Unreadable(parsed.error);
}

class FileParts;
namespace file_entry { // system/file_entry.hpp
struct Entry;
Parsed<FileParts> open_parts(const Entry& entry);
} // namespace file_entry

/// What a written file must survive. `disk`: a power failure. `process`: this process dying at any moment. `content`:
/// after a power failure the file is complete, but may be the previous version; it is safe once any file in its folder
/// was written with `disk`.
enum class Durability { disk, content, process };

/// Replaces the whole file, or leaves it unchanged. Throws heed::Failed, which names the path, the error and how to fix
/// it.
void write_file(const std::filesystem::path& path, std::string_view bytes, Durability durability = Durability::disk);

/// A file that is written in parts, under a temporary name until `finish` renames it. Without `finish`, it is removed.
/// All functions throw heed::Failed, as write_file does.
class NewFile {
public:
  explicit NewFile(const std::filesystem::path& path);
  explicit NewFile(file_entry::Entry entry);
  NewFile(NewFile&&) noexcept;
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  void finish(Durability durability = Durability::disk);

private:
  std::unique_ptr<file_entry::Entry> entry_;
  std::string aside_; ///< the temporary name; empty after the renaming
  Descriptor held_;
};

/// Appends `line` and a newline to the file and creates it if needed. A write that fails half-way is undone. Throws
/// heed::Failed.
void append_line(const std::filesystem::path& path, std::string_view line);

/// Larger than any record of a run or a sweep.
inline constexpr std::uint64_t largest_record = std::uint64_t{1} << 30;

/// The content of a regular file of at most `most` bytes. The error names the path and says why it could not be read.
/// Never waits: a pipe or a device is an error and counts as damaged.
Parsed<std::string> read_file(const std::filesystem::path& path, std::uint64_t most = largest_record);

/// The first `bytes` bytes of a regular file, or the whole file if it is shorter.
Parsed<std::string> read_beginning(const std::filesystem::path& path, std::uint64_t bytes);

/// Identifies a file and its last change. If two identities are equal, the file was not written in between, according
/// to its timestamps.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0, size = 0;
  /// time of the last change of content (mtime), and of content or metadata (ctime), in nanoseconds since 1970
  std::int64_t written = 0, changed = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// A regular file that is read in parts.
class FileParts {
public:
  /// Errors are those of read_file.
  static Parsed<FileParts> open(const std::filesystem::path& path);

  std::uint64_t size() const { return size_; } ///< when it was opened
  /// The identity now; all 0 if the system does not say.
  FileIdentity identity() const;
  /// Fills `to` with the bytes that start at `begin`. Returns why they can't be read; empty on success.
  /// @param problem  gets the type of the error: the file became shorter (damaged), or it can't be read now
  ///          (unreadable)
  std::string read(std::uint64_t begin, std::span<std::byte> to, ReadProblem* problem = nullptr) const;
  /// Reads `size` bytes that start at `begin`.
  Parsed<std::string> text(std::uint64_t begin, std::uint64_t size) const;

private:
  friend Parsed<FileParts> file_entry::open_parts(const file_entry::Entry& entry);
  FileParts(const std::filesystem::path& path, Descriptor fd, std::uint64_t size)
      : path_(path), fd_(std::move(fd)), size_(size) {}
  std::filesystem::path path_;
  Descriptor fd_;
  std::uint64_t size_;
};

/// Creates a folder and its parents. Throws heed::Failed.
void make_folder(const std::filesystem::path& path);

/// Removes temporary files that killed writers left in a folder. Files of living writers stay. Only writers on this
/// machine since its last boot are known to be alive or dead; temporary files of other writers are removed after an
/// hour.
void remove_leftovers(const std::filesystem::path& folder);

/// The suffix of temporary names by this machine since its last boot: "@HOST+BOOT.aside".
std::string aside_ending();

/// Creates the output folder and tests by writing that it is writable. Throws heed::Refused, because no run has started
/// yet.
void make_output_folder(const std::filesystem::path& path);

/// For tests. While it lives, `hook` is called before each operation that changes the disk, with the file's final path.
/// If it returns an errno (ENOSPC, ...), the operation fails with this error; 0 lets the operation proceed.
class WriteHook {
public:
  explicit WriteHook(std::function<int(const std::filesystem::path&)> hook);
  ~WriteHook();
  WriteHook(const WriteHook&) = delete;
  WriteHook& operator=(const WriteHook&) = delete;
};

/// The same for reading: called before a file is opened or its metadata is read, and before a folder is listed.
class ReadHook {
public:
  explicit ReadHook(std::function<int(const std::filesystem::path&)> hook);
  ~ReadHook();
  ReadHook(const ReadHook&) = delete;
  ReadHook& operator=(const ReadHook&) = delete;
};

} // namespace heed
