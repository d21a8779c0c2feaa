// Whether a folder is on a shared (network) file system, and whether it is writable.
#pragma once

#include <cstdint>
#include <filesystem>

namespace heed {

/// Whether several machines may share a file system of this type (the number from statfs(2)): NFS, SMB, Lustre, GPFS,
/// BeeGFS, Ceph, ..., and all of FUSE, which includes sshfs and GlusterFS. Locks on such a file system may not hold
/// between machines.
bool is_shared(std::int64_t file_system_type);

/// The same for a folder. false if the system does not say.
bool is_on_shared_file_system(const std::filesystem::path& folder);

/// Whether this process may create files in a folder, or change a file.
bool may_write(const std::filesystem::path& path);

} // namespace heed
