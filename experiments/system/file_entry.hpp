// Implementation shared by the two file interfaces: user paths (files.hpp) and output folders (output_file.hpp). It
// works on a name in an open folder. Only system/ includes this file.
#pragma once

#include "experiments/system/files.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

namespace heed::file_entry {

/// A name in a folder. Without a folder, it is a path as the user wrote it, and links in it are followed.
struct Entry {
  std::filesystem::path path; ///< for messages
  Descriptor folder;
  std::string name;
  std::function<void()> before_change; ///< throws if this process may not change the file any more; may be empty
  /// The file that `try_write` replaces, if the new one gets its owner and permissions.
  const struct stat* like = nullptr;

  /// The folder's descriptor for openat and similar functions.
  int at() const;
  /// O_NOFOLLOW if links are not followed.
  int no_link() const;
};

/// An entry for a user's path.
Entry entry_of(const std::filesystem::path& path);

/// Makes an entry for `below`, one name or several, in a folder that is opened as the user wrote it. No link among the
/// names is followed. If a folder in between is missing or is a link, the entry has no folder and errno says why
/// (ENOENT, ELOOP, ...).
bool open_below(const std::filesystem::path& folder, const std::filesystem::path& below, Entry& entry);

/// "cannot write 'PATH': no space left on device; free some space there, or choose another folder"
std::string complaint(std::string_view what, const std::filesystem::path& path, int error);
/// Throws heed::Failed with this message.
[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path, int error);
/// Why a file could not be read, and the type of the reason.
struct Unread {
  std::string why;
  ReadProblem problem = ReadProblem::none;
};
Unread unread(const std::filesystem::path& path, int error);

/// Opens a regular file. Does not wait if it is a pipe. `fd` is open if there is no problem.
Unread open_regular(const Entry& entry, Descriptor& fd, struct stat& about);
/// How read_regular takes a file: its first bytes, all of them, or all of them as a text, in which a zero byte is
/// damage. So a sparse file in place of a text is not read to its end.
enum class Take { beginning, all, text };
/// Reads at most `most` bytes. Unless only the beginning is taken, a longer file is an error.
Parsed<std::string> read_regular(const Entry& entry, std::uint64_t most, Take take);
Parsed<FileParts> open_parts(const Entry& entry);

/// Returns 0 or an errno.
int try_write(const Entry& entry, std::string_view bytes, Durability durability);
/// Creates `path` and its parent folders. Returns 0 or an errno.
int try_make_folder(const std::filesystem::path& path);
/// Opens a regular file for appending and creates it if needed. On failure, the descriptor is negative and errno is
/// set.
Descriptor open_to_append(const Entry& entry);
void append_line(const Entry& entry, std::string_view line);
void synchronise(const Entry& entry);
void remove(const Entry& entry);
/// @param folder  an open folder
void remove_leftovers(const Descriptor& folder);
/// All names in the folder except "." and "..". Returns 0 or an errno.
int names_in(const Descriptor& folder, std::vector<std::string>& names);

/// For tests: true, with errno set, if a hook wants the next change (or the next read) of `path` to fail.
bool made_to_fail(const std::filesystem::path& path);
bool reading_made_to_fail(const std::filesystem::path& path);

} // namespace heed::file_entry

namespace heed {
FileIdentity identity_of(const struct stat& about);
}
