#include "experiments/system/own_folder.hpp"

#include "experiments/system/polling.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

/// An absolute path from an environment variable; empty if there is none.
fs::path folder_in(const char* variable) {
  const char* const text = std::getenv(variable);
  const fs::path path = text ? text : "";
  return path.is_absolute() ? path : fs::path();
}

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

FoundFolder own_folder(const fs::path& path) {
  FoundFolder out{path, false, false};
  if (path.empty()) return out;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  ::mkdir(path.c_str(), S_IRWXU);
  struct stat about = {};
  const bool own = ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() &&
                   (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  out.writable = own && may_write(path);
  out.shared = is_on_shared_file_system(path);
  return out;
}

fs::path cache_folder(const std::string& name) {
  fs::path cache = folder_in("XDG_CACHE_HOME");
  if (const fs::path home = folder_in("HOME"); cache.empty() && !home.empty()) cache = home / ".cache";
  return cache.empty() ? cache : cache / "heed" / name;
}

fs::path temporary_folder(const std::string& name) {
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  return error ? fs::path() : temporary / fmt::format("heed-{}-{}", name, ::geteuid());
}

FolderLock::FolderLock(const fs::path& folder, std::chrono::milliseconds longest)
    : held_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const auto begin = std::chrono::steady_clock::now();
  Wait wait;
  while (held_.get() >= 0 && ::flock(held_.get(), LOCK_EX | LOCK_NB) != 0) {
    if ((errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() > begin + longest) return;
    wait.pause(std::chrono::milliseconds(20), [&] {
      const auto most = std::chrono::duration_cast<std::chrono::seconds>(longest).count();
      return WaitedFor{fmt::format("another process that uses '{}'", folder.string()),
                       fmt::format(": at most {} s", most)};
    });
  }
}

bool is_shared(std::int64_t type) { return std::ranges::find(shared, type & 0xFFFFFFFF) != shared.end(); }

bool is_on_shared_file_system(const std::filesystem::path& folder) {
  struct statfs about = {};
  return ::statfs(folder.c_str(), &about) == 0 && is_shared(static_cast<std::int64_t>(about.f_type));
}

bool may_write(const std::filesystem::path& path) { return ::access(path.c_str(), W_OK) == 0; }

} // namespace heed
