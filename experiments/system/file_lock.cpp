#include "experiments/system/file_lock.hpp"

#include "experiments/system/files.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

namespace heed {
namespace {

// Locks of the open file, not of the process: they also hold against other locks of the same process, go with the
// process whatever kills it, and work on shared file systems.
struct flock whole_file(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

} // namespace

std::optional<FileLock> FileLock::attempt(const std::filesystem::path& path) {
  const auto fail = [&](int error) {
    throw Failed(fmt::format("cannot lock '{}': {}; change its permissions, or choose another folder with --out",
                             path.string(), std::strerror(error)));
  };
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) fail(errno);
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(file, F_OFD_SETLK, &lock) == 0) return FileLock(file);
  const int error = errno;
  ::close(file);
  if (error != EAGAIN && error != EACCES) fail(error);
  return std::nullopt;
}

std::optional<FileLock> FileLock::wait(const std::filesystem::path& path, const std::function<bool()>& give_up) {
  for (;;) {
    if (auto lock = attempt(path)) return lock;
    if (give_up()) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

bool FileLock::held(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  struct flock lock = whole_file(F_RDLCK);
  const bool asked = ::fcntl(file, F_OFD_GETLK, &lock) == 0;
  ::close(file);
  return asked && lock.l_type != F_UNLCK;
}

FileLock::~FileLock() {
  if (file_ >= 0) ::close(file_);
}

} // namespace heed
