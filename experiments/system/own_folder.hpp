// Private folders of this user (cache, temporary), for files that Heed can create again; and whether a folder is on a
// shared (network) file system and writable.
#pragma once

#include "experiments/system/descriptor.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace heed {

/// A candidate for storing files, and its properties.
struct FoundFolder {
  std::filesystem::path path;
  bool shared = false;  ///< several machines may share it (is_on_shared_file_system)
  bool writable = true; ///< by this user
};

/// Whether it is local to this machine and writable.
inline bool is_local(const FoundFolder& folder) { return !folder.shared && folder.writable; }

/// A folder, created with access only for this user if missing. It is not writable (`writable`) if another user owns it
/// or may write to it, as can happen in a folder for temporary files, or if it is a link.
FoundFolder own_folder(const std::filesystem::path& path);

/// $XDG_CACHE_HOME/heed/NAME (~/.cache/heed/NAME); empty if neither variable is set.
std::filesystem::path cache_folder(const std::string& name);

/// heed-NAME-UID in the folder for temporary files; empty if there is none.
std::filesystem::path temporary_folder(const std::string& name);

/// A lock on a folder for one process at a time. Waits for the owner for at most `longest`. After this time, or if the
/// file system has no locks, it continues without the lock.
class FolderLock {
public:
  FolderLock(const std::filesystem::path& folder, std::chrono::milliseconds longest);

private:
  Descriptor held_;
};

/// Whether several machines may share a file system of this type (the number from statfs(2)): NFS, SMB, Lustre, GPFS,
/// BeeGFS, Ceph, ..., and all of FUSE, which includes sshfs and GlusterFS. Locks on such a file system may not hold
/// between machines.
bool is_shared(std::int64_t file_system_type);

/// The same for a folder. false if the system does not say.
bool is_on_shared_file_system(const std::filesystem::path& folder);

/// Whether this process may create files in a folder, or change a file.
bool may_write(const std::filesystem::path& path);

} // namespace heed
