#include "experiments/system/file_entry.hpp"

#include "experiments/system/machine.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <new>
#include <sys/file.h>
#include <sys/types.h>
#include <system_error>
#include <time.h>
#include <unistd.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view aside_suffix = ".aside";

/// Seconds after which a temporary file of another machine is considered abandoned.
constexpr std::int64_t longest_write = 3600;

using Hook = std::function<int(const fs::path&)>;

Hook& write_hook() {
  static Hook hook;
  return hook;
}
Hook& read_hook() {
  static Hook hook;
  return hook;
}

bool asked(const Hook& hook, const fs::path& path) {
  const int error = hook ? hook(path) : 0;
  if (error != 0) errno = error;
  return error != 0;
}

std::string how_to_mend(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT: return "free some space there, or choose another folder";
    case EACCES:
    case EPERM: return "change its permissions, or choose another folder";
    case EROFS: return "that file system is read-only: choose another folder";
    case ENOTDIR:
    case EEXIST:
      return "something on that path is a file where a folder is needed: remove it, or choose another folder";
    case ENXIO: return "a pipe stands where the file should be: remove it, or choose another folder";
    case EFBIG: return "raise the limit for the size of files (ulimit -f), or choose another file system";
    case EPIPE: return "its reader has ended: start it again, or choose another file";
    case EISDIR: return "a folder stands where the file should be: remove it, or choose another folder";
    case ELOOP: return "replace the link by what it points to, or remove it";
    case EINVAL: return "remove it, or choose another folder";
    case ENOENT: return "its folder does not exist, or is gone: make it, or choose another folder";
    case EMFILE:
    case ENFILE: return "too many files are open: close some programs, or raise the limit (ulimit -n)";
    case ENAMETOOLONG: return "choose a shorter path";
    default: return "check that disk, or choose another folder";
  }
}

/// The system's message, or a clearer one for some errors.
std::string reason(int error) {
  if (error == ELOOP) return "a link stands there, and links within an output folder are not followed";
  if (error == EINVAL) return "it is not a regular file";
  std::string why = std::strerror(error);
  if (!why.empty()) why[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(why[0])));
  return why;
}

/// Writes all bytes; false with errno set on failure.
bool write_all(int fd, std::string_view bytes, const fs::path& path) {
  if (file_entry::made_to_fail(path)) return false;
  while (!bytes.empty()) {
    const ::ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Why an open file can't be read: "it is a folder". Empty if it is a regular file.
std::string_view not_regular(const struct stat& about) {
  if (S_ISREG(about.st_mode)) return "";
  if (S_ISDIR(about.st_mode)) return "it is a folder";
  if (S_ISFIFO(about.st_mode)) return "it is a pipe, not a regular file";
  return "it is a device, not a regular file";
}

std::string unreadable(const fs::path& path, std::string_view why) {
  return fmt::format("cannot read '{}': {}", path.string(), why);
}

/// The temporary name: hidden, in the folder of the final file.
std::string aside_of(const file_entry::Entry& entry) {
  static std::atomic<unsigned> count{0};
  const fs::path name = entry.name;
  return (name.parent_path() /
          fmt::format(".{}.{}-{}{}", name.filename().string(), ::getpid(), count++, aside_ending()))
      .string();
}

/// Creates a file that this process keeps locked while it is open. The lock ends with the process, so a file without a
/// lock is abandoned.
Descriptor open_aside(std::string& aside, const file_entry::Entry& entry) {
  for (;;) {
    aside = aside_of(entry);
    const int fd = ::openat(entry.at(), aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST) continue; // made by a process on another machine
    if (fd < 0) return Descriptor(fd);
    struct stat about = {};
    const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (locked && (::fstat(fd, &about) != 0 || about.st_nlink > 0)) return Descriptor(fd);
    // On a file system without locks, no process removes it as abandoned either.
    if (!locked && errno != EWOULDBLOCK) return Descriptor(fd);
    ::close(fd); // another process removed it as abandoned between creation and lock
  }
}

/// Gives a file the owner and the permissions of another. Only root can change the owner.
bool make_like(int fd, const struct stat& other) {
  struct stat own = {};
  if (::fstat(fd, &own) != 0) return false;
  const bool same_owner = (own.st_uid == other.st_uid && own.st_gid == other.st_gid) ||
                          ::fchown(fd, other.st_uid, other.st_gid) == 0;
  return ::fchmod(fd, other.st_mode & (same_owner ? 07777U : 0777U)) == 0;
}

/// Renames a temporary file to its final name.
bool give_name(int held, const std::string& aside, const file_entry::Entry& entry, Durability durability) {
  if (entry.like && !make_like(held, *entry.like)) return false;
  if (durability != Durability::process && (file_entry::made_to_fail(entry.path) || ::fsync(held) != 0)) return false;
  // Some file systems report a failed write only on close, so a copy of the descriptor is closed. The lock must remain
  // until after the renaming.
  if (const int copy = ::fcntl(held, F_DUPFD_CLOEXEC, 0); copy < 0 || ::close(copy) != 0) return false;
  if (file_entry::made_to_fail(entry.path)) return false;
  if (entry.before_change) entry.before_change();
  return ::renameat(entry.at(), aside.c_str(), entry.at(), entry.name.c_str()) == 0;
}

/// Makes the renaming survive a power failure. File systems that can't synchronise folders do not need this call.
void synchronise_folder_of(const file_entry::Entry& entry) {
  const fs::path folder = fs::path(entry.name).parent_path();
  const Descriptor fd(::openat(entry.at(), folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

/// Removes a temporary file in its destructor unless the file was renamed.
class TemporaryFile {
public:
  explicit TemporaryFile(const file_entry::Entry& entry) : entry_(entry) {}
  ~TemporaryFile() {
    if (!name.empty()) ::unlinkat(entry_.at(), name.c_str(), 0);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string name;

private:
  const file_entry::Entry& entry_;
};

} // namespace

std::string aside_ending() { return fmt::format("@{}+{}{}", this_host(), this_boot().substr(0, 8), aside_suffix); }

namespace file_entry {

int Entry::at() const { return folder.get() >= 0 ? folder.get() : AT_FDCWD; }
int Entry::no_link() const { return folder.get() >= 0 ? O_NOFOLLOW : 0; }

Entry entry_of(const fs::path& path) { return {path, Descriptor(), path.string(), {}}; }

bool open_below(const fs::path& folder, const fs::path& below, Entry& entry) {
  if (below.empty() || below.is_absolute() || *below.begin() == "..") { // leads out of the folder
    errno = EINVAL;
    return false;
  }
  Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (auto name = below.begin(); fd.get() >= 0 && std::next(name) != below.end(); ++name) {
    Descriptor next(::openat(fd.get(), name->c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (next.get() < 0 && errno == ENOTDIR) {
      struct stat about = {};
      const bool link = ::fstatat(fd.get(), name->c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode);
      errno = link ? ELOOP : ENOTDIR;
    }
    const int error = errno;
    fd = std::move(next);
    errno = error;
  }
  if (fd.get() < 0) return false;
  entry.folder = std::move(fd);
  entry.name = below.filename().string();
  return true;
}

std::string complaint(std::string_view what, const fs::path& path, int error) {
  return fmt::format("cannot {} '{}': {}; {}", what, path.string(), reason(error), how_to_mend(error));
}

void fail(std::string_view what, const fs::path& path, int error) { throw Failed(complaint(what, path, error)); }

Unread unread(const fs::path& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return {unreadable(path, error == ELOOP ? reason(error) : std::strerror(error)), missing ? ReadProblem::missing
                                                                                   : error == ELOOP
                                                                                       ? ReadProblem::damaged
                                                                                       : ReadProblem::unreadable};
}

Unread open_regular(const Entry& entry, Descriptor& fd, struct stat& about) {
  if (reading_made_to_fail(entry.path)) return unread(entry.path, errno);
  fd = Descriptor(::openat(entry.at(), entry.name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | entry.no_link()));
  if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0) return unread(entry.path, errno);
  const std::string_view why = not_regular(about);
  return why.empty() ? Unread{} : Unread{unreadable(entry.path, why), ReadProblem::damaged};
}

Parsed<std::string> read_regular(const Entry& entry, std::uint64_t most, Take take) {
  using Result = Parsed<std::string>;
  const auto wrong = [&](std::string_view why, ReadProblem problem) {
    return Result::wrong(unreadable(entry.path, why), problem);
  };
  Descriptor fd;
  struct stat about = {};
  if (Unread found = open_regular(entry, fd, about); found.problem != ReadProblem::none)
    return Result::wrong(std::move(found.why), found.problem);
  const auto size = static_cast<std::uint64_t>(about.st_size); // 0 for files in /proc, even if they have content
  if (take != Take::beginning && size > most)
    return wrong(fmt::format("it has {} bytes, and at most {} make sense there", size, most), ReadProblem::damaged);
  try {
    constexpr std::uint64_t block = std::uint64_t{1} << 16, most_at_once = std::uint64_t{1} << 22;
    std::string bytes;
    // A text's size is believed as far as it was read: a sparse file can claim any.
    bytes.reserve(std::min({size, most, take == Take::text ? most_at_once : most}));
    while (bytes.size() < most) {
      const std::size_t before = bytes.size();
      const std::uint64_t expected = size > before ? size - before : block;
      bytes.resize(before + std::min({expected, most - before, most_at_once}));
      const ::ssize_t n = ::read(fd.get(), bytes.data() + before, bytes.size() - before);
      bytes.resize(before + static_cast<std::size_t>(std::max<::ssize_t>(n, 0)));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return wrong(std::strerror(errno), ReadProblem::unreadable);
      if (take == Take::text)
        if (const std::size_t zero = bytes.find('\0', before); zero != std::string::npos)
          return wrong(fmt::format("its byte {} is zero, and a text has no such byte", zero), ReadProblem::damaged);
      if (n == 0 || bytes.size() == size) break;
    }
    return Result::ok(std::move(bytes));
  } catch (const std::bad_alloc&) {
    return wrong(fmt::format("its {} bytes do not fit into memory", size), ReadProblem::unreadable);
  }
}

Parsed<FileParts> open_parts(const Entry& entry) {
  using Result = Parsed<FileParts>;
  Descriptor fd;
  struct stat about = {};
  if (Unread found = open_regular(entry, fd, about); found.problem != ReadProblem::none)
    return Result::wrong(std::move(found.why), found.problem);
  return Result::ok(FileParts(entry.path, std::move(fd), static_cast<std::uint64_t>(about.st_size)));
}

int try_write(const Entry& entry, std::string_view bytes, Durability durability) {
  TemporaryFile aside(entry);
  if (made_to_fail(entry.path)) return errno;
  const Descriptor held = open_aside(aside.name, entry);
  if (held.get() < 0) {
    aside.name.clear();
    return errno;
  }
  if (!write_all(held.get(), bytes, entry.path) || !give_name(held.get(), aside.name, entry, durability)) return errno;
  aside.name.clear();
  if (durability == Durability::disk) synchronise_folder_of(entry);
  return 0;
}

int try_make_folder(const fs::path& path) {
  if (made_to_fail(path)) return errno;
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return error.value();
  return fs::is_directory(path, error) ? 0 : ENOTDIR;
}

Descriptor open_to_append(const Entry& entry) {
  Descriptor fd(::openat(entry.at(), entry.name.c_str(),
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | entry.no_link(), 0666));
  struct stat about = {};
  if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0) return Descriptor();
  // If the user named a device, it is accepted.
  if (!S_ISREG(about.st_mode) && entry.no_link() != 0) {
    errno = S_ISFIFO(about.st_mode) ? ENXIO : EINVAL;
    return Descriptor();
  }
  return fd;
}

void append_line(const Entry& entry, std::string_view line) {
  if (made_to_fail(entry.path)) fail("write", entry.path, errno);
  Descriptor fd = open_to_append(entry);
  if (fd.get() < 0) fail("write", entry.path, errno);
  const ::off_t before = ::lseek(fd.get(), 0, SEEK_END);
  std::string whole(line);
  whole += '\n';
  if (entry.before_change) entry.before_change();
  if (!write_all(fd.get(), whole, entry.path)) {
    const int error = errno;
    // Half a line would make the next line unreadable. If this fails too, readers drop the incomplete line.
    if (before >= 0 && ::ftruncate(fd.get(), before) != 0) fail("write", entry.path, error);
    fail("write", entry.path, error);
  }
  if (fd.close() != 0) fail("write", entry.path, errno);
}

void synchronise(const Entry& entry) {
  if (made_to_fail(entry.path)) fail("write", entry.path, errno);
  const Descriptor fd(::openat(entry.at(), entry.name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | entry.no_link()));
  if (fd.get() < 0 && errno == ENOENT) return;
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) fail("write", entry.path, errno);
}

void remove(const Entry& entry) {
  if (made_to_fail(entry.path)) fail("remove", entry.path, errno);
  if (entry.before_change) entry.before_change();
  if (::unlinkat(entry.at(), entry.name.c_str(), 0) != 0 && errno != ENOENT) fail("remove", entry.path, errno);
}

int names_in(const Descriptor& folder, std::vector<std::string>& names) {
  const int fd = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = fd < 0 ? nullptr : ::fdopendir(fd);
  if (!list) return errno;
  errno = 0;
  while (const dirent* entry = ::readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int error = errno;
  ::closedir(list);
  return error;
}

void remove_leftovers(const Descriptor& folder) {
  std::vector<std::string> names;
  names_in(folder, names);
  for (const std::string& name : names) {
    if (!name.starts_with('.') || !name.ends_with(aside_suffix)) continue;
    const Descriptor fd(::openat(folder.get(), name.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    struct stat about = {};
    if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) continue;
    // A lock does not reach another machine, which may have the same name as this one.
    const bool of_another = name.find('@') != std::string::npos && !name.ends_with(aside_ending());
    const bool left = of_another ? ::time(nullptr) - about.st_mtim.tv_sec > longest_write
                                 : ::flock(fd.get(), LOCK_EX | LOCK_NB) == 0;
    if (left) ::unlinkat(folder.get(), name.c_str(), 0);
  }
}

bool made_to_fail(const fs::path& path) { return asked(write_hook(), path); }
bool reading_made_to_fail(const fs::path& path) { return asked(read_hook(), path); }

} // namespace file_entry

// A file that is written in parts.

NewFile::NewFile(const fs::path& path) : NewFile(file_entry::entry_of(path)) {}

NewFile::NewFile(file_entry::Entry entry) : entry_(std::make_unique<file_entry::Entry>(std::move(entry))) {
  if (file_entry::made_to_fail(entry_->path)) file_entry::fail("write", entry_->path, errno);
  held_ = open_aside(aside_, *entry_);
  if (held_.get() >= 0) return;
  aside_.clear();
  file_entry::fail("write", entry_->path, errno);
}

NewFile::NewFile(NewFile&& other) noexcept
    : entry_(std::move(other.entry_)), aside_(std::exchange(other.aside_, {})), held_(std::move(other.held_)) {}

NewFile::~NewFile() {
  if (!aside_.empty()) ::unlinkat(entry_->at(), aside_.c_str(), 0);
}

void NewFile::write(std::string_view bytes) {
  if (!write_all(held_.get(), bytes, entry_->path)) file_entry::fail("write", entry_->path, errno);
}

void NewFile::finish(Durability durability) {
  if (!give_name(held_.get(), aside_, *entry_, durability)) file_entry::fail("write", entry_->path, errno);
  aside_.clear();
  if (durability == Durability::disk) synchronise_folder_of(*entry_);
}

// An open file that is read in parts.

FileIdentity FileParts::identity() const {
  struct stat about = {};
  return ::fstat(fd_.get(), &about) == 0 ? identity_of(about) : FileIdentity{};
}

Parsed<std::string> FileParts::text(std::uint64_t begin, std::uint64_t size) const {
  std::string bytes(size, '\0');
  ReadProblem problem = ReadProblem::none;
  std::string why = read(begin, std::as_writable_bytes(std::span(bytes)), &problem);
  return why.empty() ? Parsed<std::string>::ok(std::move(bytes)) : Parsed<std::string>::wrong(std::move(why), problem);
}

std::string FileParts::read(std::uint64_t begin, std::span<std::byte> to, ReadProblem* problem) const {
  const auto wrong = [&](std::string_view why, ReadProblem kind) {
    if (problem) *problem = kind;
    return unreadable(path_, why);
  };
  for (std::size_t done = 0; done < to.size();) {
    const ::ssize_t n = ::pread(fd_.get(), to.data() + done, to.size() - done, static_cast<::off_t>(begin + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return wrong(std::strerror(errno), ReadProblem::unreadable);
    if (n == 0) return wrong("it ends before the bytes that it had when it was opened", ReadProblem::damaged);
    done += static_cast<std::size_t>(n);
  }
  return "";
}

FileIdentity identity_of(const struct stat& about) {
  const auto nanoseconds = [](const struct timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  return {static_cast<std::uint64_t>(about.st_dev), static_cast<std::uint64_t>(about.st_ino),
          static_cast<std::uint64_t>(about.st_size), nanoseconds(about.st_mtim), nanoseconds(about.st_ctim)};
}

WriteHook::WriteHook(std::function<int(const fs::path&)> hook) { write_hook() = std::move(hook); }
WriteHook::~WriteHook() { write_hook() = nullptr; }
ReadHook::ReadHook(std::function<int(const fs::path&)> hook) { read_hook() = std::move(hook); }
ReadHook::~ReadHook() { read_hook() = nullptr; }

} // namespace heed
