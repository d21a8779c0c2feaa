// Folders that this user has to himself, for files that Heed can make again.
#pragma once

#include "experiments/system/descriptor.hpp"

#include <chrono>
#include <filesystem>
#include <string>

namespace heed {

/// A folder that files could stand in, as it was found.
struct FoundFolder {
  std::filesystem::path path;
  bool shared = false;  ///< several machines may have it (is_on_shared_file_system)
  bool writable = true; ///< for this user
};

/// Whether it is of this machine alone and can be written.
inline bool is_local(const FoundFolder& folder) { return !folder.shared && folder.writable; }

/// A folder, made for this user alone where it is missing. What another user has, or may write to, as can be among
/// temporary files, is not one to write to, nor is a link.
FoundFolder own_folder(const std::filesystem::path& path);

/// $XDG_CACHE_HOME/heed/NAME (~/.cache/heed/NAME); empty where there is neither.
std::filesystem::path cache_folder(const std::string& name);

/// heed-NAME-UID in the folder for temporary files; empty where there is none.
std::filesystem::path temporary_folder(const std::string& name);

/// A folder that one process at a time has to itself. Waits for who has it, but no longer than `longest`; then, and
/// where the file system knows no locks, it is nobody's, and all go on.
class FolderLock {
public:
  FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds longest);

private:
  Descriptor held_;
};

} // namespace heed
