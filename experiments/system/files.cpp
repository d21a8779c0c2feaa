#include "experiments/system/files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <new>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view aside_suffix = ".aside";

/// Seconds after which a file that another machine writes aside is taken for left behind.
constexpr std::int64_t longest_write = 3600;

std::function<int(const fs::path&)>& write_hook() {
  static std::function<int(const fs::path&)> hook;
  return hook;
}

/// Sets errno and is true where a test wants the next operation on `path` to fail.
bool made_to_fail(const fs::path& path) {
  const auto& hook = write_hook();
  const int error = hook ? hook(path) : 0;
  if (error != 0) errno = error;
  return error != 0;
}

std::string how_to_mend(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return "free some space there, or choose another folder with --out";
    case EACCES:
    case EPERM: return "change its permissions, or choose another folder with --out";
    case EROFS: return "that file system is read-only: choose another folder with --out";
    case ENOTDIR:
    case EEXIST:
      return "something on that path is a file where a folder is needed: remove it, or choose another "
             "folder with --out";
    case ENXIO: return "a pipe stands where the file should be: remove it, or choose another folder with --out";
    case EFBIG: return "raise the limit for the size of files (ulimit -f), or choose another file system with --out";
    case EISDIR: return "a folder stands where the file should be: remove it, or choose another folder with --out";
    case ENOENT: return "there is no such place, or the folder is gone: run again, or choose another folder with --out";
    case EMFILE:
    case ENFILE: return "too many files are open: close some programs, or raise the limit (ulimit -n)";
    case ENAMETOOLONG: return "choose a shorter path with --out";
    default: return "check that disk, or choose another folder with --out";
  }
}

std::string complaint(std::string_view what, const fs::path& path, int error) {
  std::string why = std::strerror(error);
  if (!why.empty()) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return fmt::format("cannot {} '{}': {}; {}", what, path.string(), why, how_to_mend(error));
}

[[noreturn]] void fail(std::string_view what, const fs::path& path, int error) {
  throw Failed(complaint(what, path, error));
}

/// Writes all of it; false with errno set where that fails.
bool write_all(int fd, std::string_view bytes, const fs::path& path) {
  if (made_to_fail(path)) return false;
  while (!bytes.empty()) {
    const ::ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// The rename itself must survive, too. Some file systems can't synchronise folders; they then need no help of ours.
void synchronise_folder(const fs::path& folder) {
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

/// A mark in a name: locks don't reach from one machine to another everywhere.
const std::string& of_this_host() {
  static const std::string mark = [] {
    char host[256] = {};
    return "@" + (::gethostname(host, sizeof host - 1) == 0 ? std::string(host) : std::string("?"));
  }();
  return mark;
}

/// Hidden, and beside the final file.
fs::path aside_of(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return path.parent_path() /
         fmt::format(".{}.{}-{}{}{}", path.filename().string(), ::getpid(), count++, of_this_host(), aside_suffix);
}

/// A new file that this process holds for as long as it is open, however it ends: who finds one that nobody holds knows
/// that it was left behind.
Descriptor open_aside(fs::path& aside, const fs::path& path) {
  for (;;) {
    aside = aside_of(path);
    const int fd = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue; // of a process on another machine
    if (fd < 0) return Descriptor(fd);
    struct stat about = {};
    const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (locked && (::fstat(fd, &about) != 0 || about.st_nlink > 0)) return Descriptor(fd);
    // Where a file system knows no locks, nobody takes it for left behind, either.
    if (!locked && errno != EWOULDBLOCK) return Descriptor(fd);
    ::close(fd); // taken for left behind between the making and the lock
  }
}

/// Gives a file that was written aside its name.
bool give_name(int held, const fs::path& aside, const fs::path& path, Durability durability) {
  if (durability != Durability::process && (made_to_fail(path) || ::fsync(held) != 0)) return false;
  // Some file systems report a failed write only where a file is closed, and the lock must outlive the renaming.
  if (const int copy = ::fcntl(held, F_DUPFD_CLOEXEC, 0); copy < 0 || ::close(copy) != 0) return false;
  return !made_to_fail(path) && ::rename(aside.c_str(), path.c_str()) == 0;
}

/// Writes all of a file aside, and gives it its name.
bool write_aside(fs::path& aside, const fs::path& path, std::string_view bytes, Durability durability) {
  if (made_to_fail(path)) return false;
  const Descriptor held = open_aside(aside, path);
  if (held.get() < 0) return false;
  return write_all(held.get(), bytes, path) && give_name(held.get(), aside, path, durability);
}

/// Without an exception: 0, or an errno.
int try_write(const fs::path& path, std::string_view bytes, Durability durability) {
  fs::path aside;
  if (!write_aside(aside, path, bytes, durability)) {
    const int error = errno;
    if (!aside.empty()) ::unlink(aside.c_str());
    return error;
  }
  if (durability == Durability::disk) synchronise_folder(path.parent_path());
  return 0;
}

/// Why an open file isn't one to be read: "it is a folder". Empty where it is a regular one.
std::string_view not_regular(const struct stat& about) {
  if (S_ISREG(about.st_mode)) return "";
  if (S_ISDIR(about.st_mode)) return "it is a folder";
  if (S_ISFIFO(about.st_mode)) return "it is a pipe, not a regular file";
  return "it is a device, not a regular file";
}

std::string unreadable(const fs::path& path, std::string_view why) {
  return fmt::format("cannot read '{}': {}", path.string(), why);
}

/// A regular file, opened without waiting for somebody at the other end of a pipe; or why there is none.
std::string_view open_regular(const fs::path& path, Descriptor& fd, struct stat& about) {
  fd = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0) return std::strerror(errno);
  return not_regular(about);
}

/// An open file's bytes up to `most` of them; more are an error where `whole`.
Parsed<std::string> read_regular(const fs::path& path, std::uint64_t most, bool whole) {
  using Result = Parsed<std::string>;
  const auto wrong = [&](std::string_view why) { return Result::wrong(unreadable(path, why)); };
  Descriptor fd;
  struct stat about = {};
  if (const std::string_view why = open_regular(path, fd, about); !why.empty()) return wrong(why);
  const auto size = static_cast<std::uint64_t>(about.st_size); // 0 in /proc, whatever there is
  if (whole && size > most) return wrong(fmt::format("it has {} bytes, and at most {} make sense there", size, most));
  try {
    constexpr std::uint64_t block = std::uint64_t{1} << 16;
    std::string bytes;
    while (bytes.size() < most) {
      const std::size_t before = bytes.size();
      const std::uint64_t expected = size > before ? size - before : block;
      bytes.resize(before + std::min(expected, most - before));
      const ::ssize_t n = ::read(fd.get(), bytes.data() + before, bytes.size() - before);
      bytes.resize(before + static_cast<std::size_t>(std::max<::ssize_t>(n, 0)));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return wrong(std::strerror(errno));
      if (n == 0 || bytes.size() == size) break;
    }
    return Result::ok(std::move(bytes));
  } catch (const std::bad_alloc&) {
    return wrong(fmt::format("there is no memory for its {} bytes", size));
  }
}

int try_make_folder(const fs::path& path) {
  if (made_to_fail(path)) return errno;
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return error.value();
  return fs::is_directory(path, error) ? 0 : ENOTDIR;
}

} // namespace

void write_file(const fs::path& path, std::string_view bytes, Durability durability) {
  if (const int error = try_write(path, bytes, durability)) fail("write", path, error);
}

NewFile::NewFile(const fs::path& path) : path_(path) {
  if (made_to_fail(path)) fail("write", path, errno);
  held_ = open_aside(aside_, path);
  if (held_.get() >= 0) return;
  aside_.clear();
  fail("write", path, errno);
}

NewFile::~NewFile() {
  if (!aside_.empty()) ::unlink(aside_.c_str());
}

void NewFile::write(std::string_view bytes) {
  if (!write_all(held_.get(), bytes, path_)) fail("write", path_, errno);
}

void NewFile::finish(Durability durability) {
  if (!give_name(held_.get(), aside_, path_, durability)) fail("write", path_, errno);
  aside_.clear();
  if (durability == Durability::disk) synchronise_folder(path_.parent_path());
}

void append_line(const fs::path& path, std::string_view line) {
  if (made_to_fail(path)) fail("write", path, errno);
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666));
  if (fd.get() < 0) fail("write", path, errno);
  const ::off_t before = ::lseek(fd.get(), 0, SEEK_END);
  std::string whole(line);
  whole += '\n';
  if (!write_all(fd.get(), whole, path)) {
    const int error = errno;
    // Half a line would make the next one unreadable. Where even this fails, readers drop the torn line.
    if (before >= 0 && ::ftruncate(fd.get(), before) != 0) fail("write", path, error);
    fail("write", path, error);
  }
  if (fd.close() != 0) fail("write", path, errno);
}

Descriptor open_to_append(const fs::path& path) {
  if (made_to_fail(path)) fail("write", path, errno);
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666));
  struct stat about = {};
  if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0) fail("write", path, errno);
  if (!S_ISREG(about.st_mode)) fail("write", path, S_ISFIFO(about.st_mode) ? ENXIO : EINVAL);
  return fd;
}

void synchronise_file(const fs::path& path) {
  if (made_to_fail(path)) fail("write", path, errno);
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0 && errno == ENOENT) return;
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) fail("write", path, errno);
}

Parsed<std::string> read_file(const fs::path& path, std::uint64_t most) { return read_regular(path, most, true); }

Parsed<std::string> read_beginning(const fs::path& path, std::uint64_t bytes) {
  return read_regular(path, bytes, false);
}

Parsed<FileParts> FileParts::open(const fs::path& path) {
  using Result = Parsed<FileParts>;
  Descriptor fd;
  struct stat about = {};
  if (const std::string_view why = open_regular(path, fd, about); !why.empty())
    return Result::wrong(unreadable(path, why));
  return Result::ok(FileParts(path, std::move(fd), static_cast<std::uint64_t>(about.st_size)));
}

FileIdentity FileParts::identity() const {
  struct stat about = {};
  if (::fstat(fd_.get(), &about) != 0) return {};
  const auto nanoseconds = [](const struct timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return {static_cast<std::uint64_t>(about.st_dev), static_cast<std::uint64_t>(about.st_ino),
          static_cast<std::uint64_t>(about.st_size), nanoseconds(about.st_mtim), nanoseconds(about.st_ctim)};
}

std::string FileParts::read(std::uint64_t begin, std::span<std::byte> to) const {
  for (std::size_t done = 0; done < to.size();) {
    const ::ssize_t n = ::pread(fd_.get(), to.data() + done, to.size() - done, static_cast<::off_t>(begin + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return unreadable(path_, std::strerror(errno));
    if (n == 0) return unreadable(path_, "it ends before the bytes that it had when it was opened");
    done += static_cast<std::size_t>(n);
  }
  return "";
}

void make_folder(const fs::path& path) {
  if (const int error = try_make_folder(path)) fail("make the folder", path, error);
}

void remove_file(const fs::path& path) {
  if (made_to_fail(path)) fail("remove", path, errno);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail("remove", path, errno);
}

void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with('.') || !name.ends_with(aside_suffix)) continue;
    const Descriptor fd(::open(it->path().c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat about = {};
    if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0) continue;
    const bool of_another = name.find('@') != std::string::npos &&
                            !name.ends_with(of_this_host() + std::string(aside_suffix));
    const bool left = of_another ? ::time(nullptr) - about.st_mtim.tv_sec > longest_write
                                 : ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (left) ::unlink(it->path().c_str());
  }
}

void make_output_folder(const fs::path& path) {
  if (const int error = try_make_folder(path)) throw Refused(complaint("make the output folder", path, error));
  remove_leftovers(path);
  const fs::path probe = path / ".heed-probe";
  if (const int error = try_write(probe, "heed\n", Durability::disk))
    throw Refused(complaint("write to the output folder", path, error));
  ::unlink(probe.c_str());
}

WriteHook::WriteHook(std::function<int(const fs::path&)> hook) { write_hook() = std::move(hook); }
WriteHook::~WriteHook() { write_hook() = nullptr; }

} // namespace heed
