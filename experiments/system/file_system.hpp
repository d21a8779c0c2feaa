// What kind of file system a folder is on.
#pragma once

#include <cstdint>
#include <filesystem>

namespace heed {

/// Whether several machines may share it, by the number that statfs(2) gives for its type: NFS, SMB, Lustre, GPFS,
/// BeeGFS, Ceph, ..., and all of FUSE, among which sshfs and GlusterFS are. Locks that hold on one machine need not
/// hold between two of them there.
bool is_shared(std::int64_t file_system_type);

/// That of the folder. false where the system does not tell.
bool is_on_shared_file_system(const std::filesystem::path& folder);

/// Whether this process may write there: make files in a folder, or change a file.
bool may_write(const std::filesystem::path& path);

} // namespace heed
