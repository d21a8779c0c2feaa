#include "experiments/system/user_file.hpp"

#include "autograd/error.hpp"
#include "experiments/system/file_entry.hpp"
#include "experiments/system/polling.hpp"
#include "experiments/system/text.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace heed {

namespace {

namespace fs = std::filesystem;
using file_entry::complaint;

/// The mark of each format is within this many bytes.
constexpr std::uint64_t beginning_size = std::uint64_t{1} << 16;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// N of /dev/fd/N and /proc/self/fd/N, to which /dev/stdout and /dev/stderr are links, if it is open. Their targets are
/// not opened anew: of a regular file, the new content would replace what was written to it before.
std::optional<int> open_descriptor(fs::path path) {
  constexpr int most_links = 40;
  std::error_code error;
  const fs::path descriptors = fs::canonical("/proc/self/fd", error);
  for (int links = 0; !error && links < most_links; ++links) {
    const fs::path folder = fs::canonical(folder_of(path), error);
    if (error) return std::nullopt;
    if (folder == descriptors) {
      const auto fd = number_of<int>(path.filename().string());
      return fd && ::fcntl(*fd, F_GETFD) >= 0 ? fd : std::nullopt;
    }
    path = folder / fs::read_symlink(folder / path.filename(), error);
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const fs::path& path, std::string_view why) {
  throw Refused(fmt::format("'{}' {}", path.string(), why));
}

/// Nothing has this name, or a link that leads nowhere.
void refuse_unless_new(const fs::path& path, int error) {
  struct stat about = {};
  if (::lstat(path.c_str(), &about) == 0 && S_ISLNK(about.st_mode) && (error == ENOENT || error == ELOOP)) {
    std::error_code unknown;
    refuse(path, fmt::format("is a link to '{}', which does not exist: remove the link, or choose another name",
                             fs::read_symlink(path, unknown).string()));
  }
  if (error != ENOENT) throw Refused(complaint("write", path, error));
  if (::access(folder_of(path).c_str(), W_OK | X_OK) != 0) throw Refused(complaint("write", path, errno));
}

} // namespace

UserFile::UserFile(fs::path path, Replacing replacing) : path_(std::move(path)), target_(path_) {
  if (const std::optional<int> open = open_descriptor(path_)) {
    if ((::fcntl(*open, F_GETFL) & O_ACCMODE) == O_RDONLY)
      refuse(path_, "is open for reading only: choose another name");
    is_file_ = false;
    through_ = Descriptor(::fcntl(*open, F_DUPFD_CLOEXEC, 0));
    if (through_.get() < 0) throw Refused(complaint("write", path_, errno));
    return;
  }
  struct stat about = {};
  if (::stat(path_.c_str(), &about) != 0) {
    refuse_unless_new(path_, errno);
    return;
  }
  switch (about.st_mode & S_IFMT) {
    case S_IFREG: look_at_file(replacing); break;
    case S_IFIFO: open_through(true); break;
    case S_IFCHR: open_through(false); break;
    case S_IFDIR: refuse(path_, "is a folder: name a file, such as one in it");
    case S_IFSOCK: refuse(path_, "is a socket, which is no file to write to: choose another name");
    default: refuse(path_, "is a device with files on it, which writing would destroy: choose another name");
  }
}

void UserFile::look_at_file(const Replacing& replacing) {
  std::error_code error;
  target_ = fs::canonical(path_, error);
  if (error) throw Refused(complaint("write", path_, error.value()));
  struct stat about = {};
  if (::stat(target_.c_str(), &about) != 0) throw Refused(complaint("write", path_, errno));
  found_ = identity_of(about);
  if (replacing.force) return;
  const auto file = FileParts::open(target_);
  if (!file)
    throw Refused(fmt::format("{}, so it may be of somebody else: choose another name, or say {}", file.error,
                              replacing.option));
  const auto beginning = file->text(0, std::min(file->size(), beginning_size));
  if (!beginning) throw Refused(beginning.error);
  if (!replacing.is_own(*beginning))
    refuse(path_, fmt::format("exists and was not written by Heed: choose another name, or say {}", replacing.option));
}

void UserFile::open_through(bool pipe) {
  // Without O_NONBLOCK, opening a pipe would wait for its reader.
  is_file_ = false;
  through_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (through_.get() >= 0) return;
  const int error = errno;
  if (pipe && error == ENXIO)
    refuse(path_, "is a pipe that nobody reads: start its reader first, or choose another name");
  throw Refused(complaint("write", path_, error));
}

bool UserFile::is_terminal() const { return through_.get() >= 0 && ::isatty(through_.get()) == 1; }

void UserFile::write(std::string_view bytes) {
  if (!is_file_) return write_through(bytes);
  file_entry::Entry entry = file_entry::entry_of(target_);
  struct stat about = {};
  entry.before_change = [&] {
    const bool exists = ::stat(target_.c_str(), &about) == 0;
    if (exists ? found_ != identity_of(about) : found_.has_value() || errno != ENOENT)
      throw Failed(fmt::format("'{}' {} while this command worked, and stays as it is: repeat the command",
                               path_.string(), found_ ? "changed" : "came into being"));
  };
  struct stat before = {};
  if (found_ && ::stat(target_.c_str(), &before) == 0) entry.like = &before;
  if (const int error = file_entry::try_write(entry, bytes, Durability::disk)) file_entry::fail("write", path_, error);
}

void UserFile::write_through(std::string_view bytes) {
  constexpr int milliseconds = 200;
  const Poll* const caller = PollScope::current();
  if (file_entry::made_to_fail(path_)) file_entry::fail("write", path_, errno);
  while (!bytes.empty()) {
    if (caller) (*caller)();
    // A pipe that is ready takes PIPE_BUF bytes without waiting. Whether an open file waits is not for this process to
    // change: others write to it, too.
    pollfd ready{.fd = through_.get(), .events = POLLOUT, .revents = 0};
    if (const int events = ::poll(&ready, 1, milliseconds); events == 0 || (events < 0 && errno == EINTR)) continue;
    const ::ssize_t n = ::write(through_.get(), bytes.data(), std::min(bytes.size(), std::size_t{PIPE_BUF}));
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (n < 0) file_entry::fail("write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  if (through_.close() != 0) file_entry::fail("write", path_, errno);
}

void write_user_files(const fs::path& folder, const std::vector<std::pair<std::string, std::string>>& texts,
                      const Replacing& replacing) {
  std::vector<UserFile> files;
  for (const auto& [name, text] : texts) files.emplace_back(folder / name, replacing);
  for (std::size_t i = 0; i < files.size(); ++i) files[i].write(texts[i].second);
}

} // namespace heed
