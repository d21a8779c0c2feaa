#include "experiments/system/own_folder.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

using namespace heed;

TEST_CASE("file systems that several machines may share are known by their numbers", "[system]") {
  // Values from the kernel's own header; the other values are of file systems outside the kernel.
  for (const std::int64_t type :
       {std::int64_t{NFS_SUPER_MAGIC}, std::int64_t{SMB_SUPER_MAGIC}, std::int64_t{CIFS_SUPER_MAGIC},
        std::int64_t{SMB2_SUPER_MAGIC}, std::int64_t{CEPH_SUPER_MAGIC}, std::int64_t{FUSE_SUPER_MAGIC},
        std::int64_t{AFS_SUPER_MAGIC}, std::int64_t{CODA_SUPER_MAGIC}, std::int64_t{V9FS_MAGIC},
        std::int64_t{OCFS2_SUPER_MAGIC}, std::int64_t{0x0BD00BD0}, std::int64_t{0x47504653},
        std::int64_t{0x19830326}}) {
    INFO(std::hex << type);
    CHECK(is_shared(type));
    CHECK(is_shared(static_cast<std::int32_t>(type))); // as 32 bits, possibly sign-extended
  }
  for (const std::int64_t type :
       {std::int64_t{EXT4_SUPER_MAGIC}, std::int64_t{XFS_SUPER_MAGIC}, std::int64_t{BTRFS_SUPER_MAGIC},
        std::int64_t{TMPFS_MAGIC}, std::int64_t{OVERLAYFS_SUPER_MAGIC}, std::int64_t{F2FS_SUPER_MAGIC},
        std::int64_t{0}}) {
    INFO(std::hex << type);
    CHECK_FALSE(is_shared(type));
  }
}

TEST_CASE("what a folder is on is what the system says", "[system]") {
  const Scratch scratch;
  struct statfs about = {};
  REQUIRE(::statfs(scratch.path.c_str(), &about) == 0);
  CHECK(is_on_shared_file_system(scratch.path) == is_shared(about.f_type));
  CHECK_FALSE(is_on_shared_file_system("/proc"));
  CHECK_FALSE(is_on_shared_file_system(scratch.path / "not there"));
}

TEST_CASE("what can be written is known", "[system]") {
  const Scratch scratch;
  CHECK(may_write(scratch.path));
  CHECK_FALSE(may_write(scratch.path / "not there"));
  put(scratch.path / "file", "");
  std::filesystem::permissions(scratch.path / "file", std::filesystem::perms::owner_read);
  CHECK(may_write(scratch.path / "file") == (::geteuid() == 0)); // root may write everywhere
}
