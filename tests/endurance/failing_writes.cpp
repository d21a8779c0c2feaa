// A library for LD_PRELOAD that makes one change to the disk fail. The HEED_FAIL_AT-th change below the folder
// HEED_FAIL_BELOW fails, counted over all processes that share the counter in the file HEED_FAIL_COUNTER.
// HEED_FAIL_AT=0: no change fails, and the changes are only counted. With HEED_FAIL_READ=E, opening files and folders
// for reading is counted instead, and the HEED_FAIL_AT-th opening fails with E, an error number of <errno.h>.
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

template <class Function> Function next(const char* name) { return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name)); }

std::atomic<std::int64_t>* counter() {
  static auto* shared = [] {
    const char* file = std::getenv("HEED_FAIL_COUNTER");
    const int fd = file ? next<int (*)(const char*, int, ...)>("open")(file, O_RDWR | O_CLOEXEC) : -1;
    void* mapped = fd >= 0 ? mmap(nullptr, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0) close(fd);
    return mapped == MAP_FAILED ? nullptr : static_cast<std::atomic<std::int64_t>*>(mapped);
  }();
  return shared;
}

/// The error with which opening for reading fails; 0 if changes fail instead.
int reading() {
  static const int error = std::getenv("HEED_FAIL_READ") ? std::atoi(std::getenv("HEED_FAIL_READ")) : 0;
  return error;
}

bool is_below(const char* path) {
  static const char* folder = std::getenv("HEED_FAIL_BELOW");
  return folder && path && std::strncmp(path, folder, std::strlen(folder)) == 0;
}

bool is_below(int fd) {
  char link[64], path[4096];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  path[n > 0 ? n : 0] = '\0';
  return is_below(path);
}

/// Whether this change must fail. If so, sets errno to ENOSPC.
template <class Where> bool fails(Where where) {
  static const std::int64_t at = std::getenv("HEED_FAIL_AT") ? std::atoll(std::getenv("HEED_FAIL_AT")) : 0;
  if (reading() != 0 || !counter() || !is_below(where) || counter()->fetch_add(1) + 1 != at) return false;
  errno = ENOSPC;
  return true;
}

/// The same for opening a path for reading; errno is then the value of HEED_FAIL_READ.
bool reading_fails(const char* path) {
  static const std::int64_t at = std::getenv("HEED_FAIL_AT") ? std::atoll(std::getenv("HEED_FAIL_AT")) : 0;
  if (reading() == 0 || !counter() || !is_below(path) || counter()->fetch_add(1) + 1 != at) return false;
  errno = reading();
  return true;
}

/// The path of a name relative to an open folder.
struct Path {
  char text[8192];
  Path(int folder, const char* name) {
    if (folder == AT_FDCWD || name[0] == '/') {
      std::snprintf(text, sizeof text, "%s", name);
      return;
    }
    char link[64], path[4096];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    std::snprintf(text, sizeof text, "%s/%s", path, name);
  }
};

} // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, size_t n) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return fails(fd) ? -1 : real(fd, bytes, n);
}
ssize_t pwrite64(int fd, const void* bytes, size_t n, off64_t at) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  return fails(fd) ? -1 : real(fd, bytes, n, at);
}
int fsync(int fd) {
  static const auto real = next<int (*)(int)>("fsync");
  return fails(fd) ? -1 : real(fd);
}
int fdatasync(int fd) {
  static const auto real = next<int (*)(int)>("fdatasync");
  return fails(fd) ? -1 : real(fd);
}
int ftruncate64(int fd, off64_t size) noexcept {
  static const auto real = next<int (*)(int, off64_t)>("ftruncate64");
  return fails(fd) ? -1 : real(fd, size);
}
int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  return fails(to) ? -1 : real(from, to);
}
int unlink(const char* path) noexcept {
  static const auto real = next<int (*)(const char*)>("unlink");
  return fails(path) ? -1 : real(path);
}
int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = next<int (*)(const char*, mode_t)>("mkdir");
  return fails(path) ? -1 : real(path, mode);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static const auto real = next<int (*)(int, const char*, int, const char*)>("renameat");
  return fails(Path(to_folder, to).text) ? -1 : real(from_folder, from, to_folder, to);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static const auto real = next<int (*)(int, const char*, int, const char*, int)>("linkat");
  return fails(Path(to_folder, to).text) ? -1 : real(from_folder, from, to_folder, to, flags);
}
int unlinkat(int folder, const char* name, int flags) noexcept {
  static const auto real = next<int (*)(int, const char*, int)>("unlinkat");
  return fails(Path(folder, name).text) ? -1 : real(folder, name, flags);
}
int mkdirat(int folder, const char* name, mode_t mode) noexcept {
  static const auto real = next<int (*)(int, const char*, mode_t)>("mkdirat");
  return fails(Path(folder, name).text) ? -1 : real(folder, name, mode);
}

/// `flags` opens the file for writing or for reading; O_PATH does neither.
static bool opening_fails(const char* path, int flags) {
  if ((flags & O_CREAT) != 0) return fails(path);
  return (flags & (O_PATH | O_ACCMODE)) == O_RDONLY && reading_fails(path);
}

// With _FILE_OFFSET_BITS=64, open is open64.
static int opened(const char* name, const char* path, int flags, mode_t mode) {
  return opening_fails(path, flags) ? -1 : next<int (*)(const char*, int, ...)>(name)(path, flags, mode);
}
int openat64(int folder, const char* name, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  static const auto real = next<int (*)(int, const char*, int, ...)>("openat64");
  return opening_fails(Path(folder, name).text, flags) ? -1 : real(folder, name, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opened("open64", path, flags, mode);
}

} // extern "C"
