// The one seam through which Heed writes files, and reads them back. A file appears under its final name only when it
// is whole: it is written aside in the same folder, synchronised to the disk and renamed.
//
// Paths here are the user's, and links on them are followed. What lies in an output folder, which somebody else may have
// made, is reached by system/output_file.hpp alone.
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

/// Why there is nothing to be had from a file. `unreadable` may pass (permissions, a disk or a file server that does not
/// answer, too many open files) and says nothing of what the file holds: whoever meets it changes nothing.
enum class ReadProblem { none, missing, unreadable, damaged };

/// What a reader made of some bytes: a value, or why there is none. Readers never throw for what the bytes hold.
template <class T> struct Parsed {
  std::optional<T> value;
  std::string error; ///< empty where there is a value
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

/// Something could not be read, so that nothing was done.
struct Unreadable : Failed {
  using Failed::Failed;
};

/// Throws heed::Unreadable where that is the reason why there is no value.
template <class T> void require_readable(const Parsed<T>& parsed) {
  if (parsed.is_unreadable()) throw Unreadable(parsed.error);
}

class FileParts;
namespace file_entry { // system/file_entry.hpp
struct Entry;
Parsed<FileParts> open_parts(const Entry& entry);
} // namespace file_entry

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
  explicit NewFile(file_entry::Entry entry);
  NewFile(NewFile&&) noexcept;
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::string_view bytes);
  void finish(Durability durability = Durability::disk);

private:
  std::unique_ptr<file_entry::Entry> entry_;
  std::string aside_; ///< its name for now; empty once it has its own
  Descriptor held_;
};

/// Adds `line` and a newline to the end of the file, which is made if it is missing. A write that fails half-way is
/// taken back. Throws heed::Failed.
void append_line(const std::filesystem::path& path, std::string_view line);

/// More than any record of a run or a sweep has.
inline constexpr std::uint64_t largest_record = std::uint64_t{1} << 30;

/// The content of a regular file of at most so many bytes; the error names the path and says why it could not be read.
/// It never waits: a pipe or a device is an error, and counts as damage.
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
  /// @param problem  gets what kind of reason that is: the file became shorter (damaged), or can't be read now
  std::string read(std::uint64_t begin, std::span<std::byte> to, ReadProblem* problem = nullptr) const;
  /// `size` bytes from `begin` on.
  Parsed<std::string> text(std::uint64_t begin, std::uint64_t size) const;

private:
  friend Parsed<FileParts> file_entry::open_parts(const file_entry::Entry& entry);
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

/// Removes what writers that were killed left aside in a folder. What a living one is writing there stays; whether one
/// lives is known of this machine since its last start, and what others left stays for an hour.
void remove_leftovers(const std::filesystem::path& folder);

/// The end of a name that is written aside by this machine since its last start: "@HOST+BOOT.aside".
std::string aside_ending();

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

/// The same for reading: asked before a file is opened or looked at, or a folder is listed.
class ReadHook {
public:
  explicit ReadHook(std::function<int(const std::filesystem::path&)> hook);
  ~ReadHook();
  ReadHook(const ReadHook&) = delete;
  ReadHook& operator=(const ReadHook&) = delete;
};

} // namespace heed
