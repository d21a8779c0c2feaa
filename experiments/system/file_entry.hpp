// What the two faces of files share, of the user's (files.hpp) and of an output folder's (output_file.hpp): a name in a
// folder that is open, and what is done with it. No other room includes this.
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

/// A name in a folder. Without a folder it is a path as the user wrote it, and links on it are followed.
struct Entry {
  std::filesystem::path path; ///< for messages
  Descriptor folder;
  std::string name;
  std::function<void()> before_change; ///< throws where this process may not change the file any more; may be empty

  /// What openat and its like take.
  int at() const;
  /// O_NOFOLLOW where links are not followed.
  int no_link() const;
};

/// A path of the user's.
Entry entry_of(const std::filesystem::path& path);

/// `below`, one name or several, in a folder that was opened as the user wrote it; no link among the names is followed.
/// Without a folder in between, or with a link there, the entry has no folder and errno says why (ENOENT, ELOOP, ...).
bool open_below(const std::filesystem::path& folder, const std::filesystem::path& below, Entry& entry);

/// "cannot write 'PATH': no space left on device; free some space there, or choose another folder with --out"
std::string complaint(std::string_view what, const std::filesystem::path& path, int error);
/// Throws heed::Failed with that.
[[noreturn]] void fail(std::string_view what, const std::filesystem::path& path, int error);
/// Why a file could not be read, and what kind of reason that is.
struct Unread {
  std::string why;
  ReadProblem problem = ReadProblem::none;
};
Unread unread(const std::filesystem::path& path, int error);

/// A regular file, opened without waiting for somebody at the other end of a pipe; `fd` is open where there is no
/// problem.
Unread open_regular(const Entry& entry, Descriptor& fd, struct stat& about);
/// Its bytes up to `most` of them; more are an error where `whole`.
Parsed<std::string> read_regular(const Entry& entry, std::uint64_t most, bool whole);
Parsed<FileParts> open_parts(const Entry& entry);

/// 0, or an errno.
int try_write(const Entry& entry, std::string_view bytes, Durability durability);
/// Makes `path` and the folders above it. 0, or an errno.
int try_make_folder(const std::filesystem::path& path);
/// A regular file to append to, made where it is missing. Negative with errno where there is none.
Descriptor open_to_append(const Entry& entry);
void append_line(const Entry& entry, std::string_view line);
void synchronise(const Entry& entry);
void remove(const Entry& entry);
/// @param folder  open
void remove_leftovers(const Descriptor& folder);
/// All names in it but "." and ".."; an errno where it can't be read.
int names_in(const Descriptor& folder, std::vector<std::string>& names);

/// Sets errno and is true where a test wants the next change of `path`, or the next reading of it, to fail.
bool made_to_fail(const std::filesystem::path& path);
bool reading_made_to_fail(const std::filesystem::path& path);

} // namespace heed::file_entry

namespace heed {
FileIdentity identity_of(const struct stat& about);
}
