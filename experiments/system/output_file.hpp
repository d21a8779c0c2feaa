// What lies below an output folder, which somebody else may have made: the one way to it.
#pragma once

#include "experiments/system/files.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A file or folder below a folder of the user's. The user's folder may be a link; below it no link is followed, only
/// regular files are opened, and nothing is waited for, so that nothing outside of it is read, written or removed,
/// whatever lies there. A link, a pipe, a device or a folder where a file should be counts as damage.
///
/// Members that change something throw heed::Failed, as the functions of files.hpp do; those that read return errors.
class OutputFile {
public:
  /// @param folder  the user's
  /// @param below   a name in it, or several: "sweeps/NAME/plan.json"
  /// @param before_change  called right before each change of something that others may see (a renaming, a removal, a
  ///                       line that is appended); it throws where this process may not make it any more
  OutputFile(std::filesystem::path folder, const std::filesystem::path& below,
             std::function<void()> before_change = {});

  const std::filesystem::path& path() const { return path_; }
  operator const std::filesystem::path&() const { return path_; } // NOLINT(google-explicit-constructor): for reading it
  std::string string() const { return path_.string(); }
  std::string name() const { return path_.filename().string(); }
  /// Something in this folder.
  OutputFile operator/(const std::filesystem::path& below) const;
  /// Another name in the same folder.
  OutputFile beside(const std::string& name) const;

  Parsed<std::string> read(std::uint64_t most = largest_record) const;
  Parsed<std::string> read_beginning(std::uint64_t bytes) const;
  Parsed<FileParts> open() const;
  /// Whether something has this name; a link counts. False only where it is known to be missing: what can't be looked
  /// at now may be there.
  bool exists() const;
  bool is_regular_file() const;
  bool is_folder() const;
  Parsed<FileIdentity> identity() const;
  /// The names in this folder, in no order; none where it is missing.
  Parsed<std::vector<std::string>> names() const;

  void write(std::string_view bytes, Durability durability = Durability::disk) const;
  NewFile create() const;
  void append_line(std::string_view line) const;
  /// For outputs of another process.
  Descriptor open_to_append() const;
  /// Has what was written so far survive the machine losing power; a file that is missing is fine.
  void synchronise() const;
  void remove() const;
  /// Gives the file the next free name of `NAME.damaged`, `NAME.damaged-2`, ... beside it. Returns that.
  OutputFile set_aside() const;
  /// A second name for the file as it is now, of the same kind; a copy where the file system has no second names.
  OutputFile copy_aside() const;
  /// Makes this folder and those above it.
  void make_folder() const;
  /// As the function of files.hpp, in this folder.
  void remove_leftovers() const;
  /// Sets its time to now, where that can be done.
  void touch() const;

  /// For system/ alone (file_entry.hpp). Throws heed::Failed: "cannot WHAT ...".
  file_entry::Entry entry(std::string_view what) const;
  bool open_below(file_entry::Entry& entry) const; ///< false with errno

private:
  OutputFile free_name() const;

  std::filesystem::path folder_, below_, path_;
  std::function<void()> before_change_;
};

/// A folder for files of a user's choice, or one below it, which somebody else may have made.
struct OutputFolder {
  std::filesystem::path folder; ///< the user's
  std::filesystem::path below;  ///< may be empty

  std::filesystem::path path() const { return folder / below; }
  OutputFile operator/(const std::filesystem::path& name) const { return {folder, below / name}; }
  /// Makes both. Throws heed::Refused where nothing can be written there.
  void make() const;
};

} // namespace heed
