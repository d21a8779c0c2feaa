// Access to files below an output folder, which another user may have created. All access to them goes through this
// class.
#pragma once

#include "experiments/system/files.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A file or folder below a folder of the user. The user's folder may be a link. Below it, no link is followed, only
/// regular files are opened, and no operation waits. So nothing outside of the folder is read, written or removed. A
/// link, a pipe, a device or a folder in place of a file counts as damaged.
///
/// Members that change something throw heed::Failed, like the functions of files.hpp; members that read return errors.
class OutputFile {
public:
  /// @param folder  the user's folder
  /// @param below   a name in it, or several: "sweeps/NAME/plan.json"
  /// @param before_change  called right before each change that others may see (renaming, removal, appending a line);
  ///          it throws if this process may not make the change any more
  OutputFile(std::filesystem::path folder, const std::filesystem::path& below,
             std::function<void()> before_change = {});

  const std::filesystem::path& path() const { return path_; }
  operator const std::filesystem::path&() const { return path_; } // NOLINT(google-explicit-constructor): for reading it
  std::string string() const { return path_.string(); }
  std::string name() const { return path_.filename().string(); }
  /// A file or folder in this folder.
  OutputFile operator/(const std::filesystem::path& below) const;
  /// Another name in the same folder.
  OutputFile beside(const std::string& name) const;

  /// The content of a text file of at most `most` bytes. Errors are those of read_file; a zero byte is damage.
  Parsed<std::string> read(std::uint64_t most = largest_record) const;
  Parsed<std::string> read_beginning(std::uint64_t bytes) const;
  /// The last `bytes` bytes that are not before `begin`, for logs.
  Parsed<std::string> read_end(std::uint64_t bytes, std::uint64_t begin = 0) const;
  Parsed<FileParts> open() const;
  /// Whether something has this name; a link counts. False only if it is known to be missing. True if it can't be
  /// checked at the moment.
  bool exists() const;
  bool is_regular_file() const;
  bool is_folder() const;
  Parsed<FileIdentity> identity() const;
  /// The names in this folder, unsorted; empty if it is missing.
  Parsed<std::vector<std::string>> names() const;

  void write(std::string_view bytes, Durability durability = Durability::disk) const;
  NewFile create() const;
  void append_line(std::string_view line) const;
  /// For the output of another process.
  Descriptor open_to_append() const;
  /// Makes everything written so far survive a power failure. A missing file is fine.
  void synchronise() const;
  void remove() const;
  /// Renames the file to the first free name of `NAME.damaged`, `NAME.damaged-2`, ... in the same folder and returns
  /// it.
  OutputFile set_aside() const;
  /// Creates a hard link to the current file, with a free name as in `set_aside`; a copy if the file system has no hard
  /// links.
  OutputFile copy_aside() const;
  /// Creates this folder and its parents.
  void make_folder() const;
  /// The same as remove_leftovers of files.hpp, for this folder.
  void remove_leftovers() const;
  /// Sets its timestamp to now, if possible.
  void touch() const;

  /// Only for system/ (file_entry.hpp). Throws heed::Failed: "cannot WHAT ...".
  file_entry::Entry entry(std::string_view what) const;
  bool open_below(file_entry::Entry& entry) const; ///< false, with errno set, on failure

private:
  OutputFile free_name() const;

  std::filesystem::path folder_, below_, path_;
  std::function<void()> before_change_;
};

/// A folder for files that the user chose, or a folder below it, which another user may have created.
struct OutputFolder {
  std::filesystem::path folder; ///< the user's folder
  std::filesystem::path below;  ///< may be empty

  std::filesystem::path path() const { return folder / below; }
  OutputFile operator/(const std::filesystem::path& name) const { return {folder, below / name}; }
  /// Creates both. Throws heed::Refused if they are not writable.
  void make() const;
};

} // namespace heed
