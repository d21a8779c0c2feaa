#include "experiments/system/file_system.hpp"

#include <algorithm>
#include <array>
#include <sys/vfs.h>
#include <unistd.h>

namespace heed {
namespace {

// Numbers from statfs(2), the kernel's linux/magic.h and the file systems' source code.
constexpr std::array<std::int64_t, 20> shared{
    0x6969,     // NFS
    0x517B,     // SMB
    0xFF534D42, // CIFS
    0xFE534D42, // SMB2
    0x65735546, // FUSE: sshfs, GlusterFS, virtiofs, ...
    0x0BD00BD0, // Lustre
    0x47504653, // GPFS
    0x19830326, // BeeGFS
    0x00C36400, // Ceph
    0xAAD7AAEA, // PanFS
    0x5346414F, // AFS
    0x6B414653, // kAFS
    0x73757245, // Coda
    0x01021997, // 9P
    0x7461636F, // OCFS2
    0x01161970, // GFS2
    0x20030528, // OrangeFS
    0x786F4256, // VirtualBox's shared folders
    0xBACBACBC, // VMware's
    0x564C,     // NCP
};

} // namespace

bool is_shared(std::int64_t type) { return std::ranges::find(shared, type & 0xFFFFFFFF) != shared.end(); }

bool is_on_shared_file_system(const std::filesystem::path& folder) {
  struct statfs about = {};
  return ::statfs(folder.c_str(), &about) == 0 && is_shared(static_cast<std::int64_t>(about.f_type));
}

bool may_write(const std::filesystem::path& path) { return ::access(path.c_str(), W_OK) == 0; }

} // namespace heed
