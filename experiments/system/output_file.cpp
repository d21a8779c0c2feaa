#include "experiments/system/output_file.hpp"

#include "experiments/system/file_entry.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

namespace heed {

namespace fs = std::filesystem;

namespace {

/// Calls lstat. Returns 0 or an errno.
int look_at(const OutputFile& file, struct stat& about) {
  if (file_entry::reading_made_to_fail(file.path())) return errno;
  file_entry::Entry entry;
  if (!file.open_below(entry)) return errno;
  return ::fstatat(entry.at(), entry.name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
}

bool means_missing(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP; }

Descriptor open_folder_in(const file_entry::Entry& entry) {
  return Descriptor(::openat(entry.at(), entry.name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Returns `use(entry)`, or the error if there is no entry.
template <class T, class Use> Parsed<T> with_entry(const OutputFile& file, const Use& use) {
  file_entry::Entry entry;
  if (file.open_below(entry)) return use(entry);
  auto [why, problem] = file_entry::unread(file.path(), errno);
  return Parsed<T>::wrong(std::move(why), problem);
}

} // namespace

OutputFile::OutputFile(fs::path folder, const fs::path& below, std::function<void()> before_change)
    : folder_(std::move(folder)), below_(below.lexically_normal()), before_change_(std::move(before_change)) {
  if (!below_.has_filename()) below_ = below_.parent_path(); // "a/"
  path_ = folder_ / below_;
}

OutputFile OutputFile::operator/(const fs::path& below) const { return {folder_, below_ / below, before_change_}; }

OutputFile OutputFile::beside(const std::string& name) const {
  return {folder_, below_.parent_path() / name, before_change_};
}

bool OutputFile::open_below(file_entry::Entry& entry) const {
  entry.path = path_;
  entry.before_change = before_change_;
  return file_entry::open_below(folder_, below_, entry);
}

file_entry::Entry OutputFile::entry(std::string_view what) const {
  file_entry::Entry entry;
  if (!open_below(entry)) file_entry::fail(what, path_, errno);
  return entry;
}

Parsed<std::string> OutputFile::read(std::uint64_t most) const {
  return with_entry<std::string>(*this, [&](const auto& entry) {
    return file_entry::read_regular(entry, most, file_entry::Take::text);
  });
}

Parsed<std::string> OutputFile::read_beginning(std::uint64_t bytes) const {
  return with_entry<std::string>(*this, [&](const auto& entry) {
    return file_entry::read_regular(entry, bytes, file_entry::Take::beginning);
  });
}

Parsed<std::string> OutputFile::read_end(std::uint64_t bytes, std::uint64_t begin) const {
  const auto file = open();
  if (!file) return Parsed<std::string>::wrong(file.error, file.problem);
  const std::uint64_t left = file->size() - std::min(begin, file->size());
  return file->text(file->size() - std::min(left, bytes), std::min(left, bytes));
}

Parsed<FileParts> OutputFile::open() const { return with_entry<FileParts>(*this, file_entry::open_parts); }

bool OutputFile::exists() const {
  struct stat about = {};
  return !means_missing(look_at(*this, about));
}

bool OutputFile::is_regular_file() const {
  struct stat about = {};
  return look_at(*this, about) == 0 && S_ISREG(about.st_mode);
}

bool OutputFile::is_folder() const {
  struct stat about = {};
  return look_at(*this, about) == 0 && S_ISDIR(about.st_mode);
}

Parsed<FileIdentity> OutputFile::identity() const {
  struct stat about = {};
  const int error = look_at(*this, about);
  if (error == 0) return Parsed<FileIdentity>::ok(identity_of(about));
  auto [why, problem] = file_entry::unread(path_, error);
  return Parsed<FileIdentity>::wrong(std::move(why), problem);
}

Parsed<std::vector<std::string>> OutputFile::names() const {
  using Result = Parsed<std::vector<std::string>>;
  return with_entry<std::vector<std::string>>(*this, [&](const auto& entry) {
    std::vector<std::string> names;
    int error = file_entry::reading_made_to_fail(path_) ? errno : 0;
    const Descriptor folder = error == 0 ? open_folder_in(entry) : Descriptor();
    if (error == 0) error = folder.get() < 0 ? errno : file_entry::names_in(folder, names);
    if (error == 0 || error == ENOENT) return Result::ok(std::move(names));
    auto [why, problem] = file_entry::unread(path_, error);
    return Result::wrong(std::move(why), problem);
  });
}

void OutputFile::write(std::string_view bytes, Durability durability) const {
  if (const int error = file_entry::try_write(entry("write"), bytes, durability))
    file_entry::fail("write", path_, error);
}

NewFile OutputFile::create() const { return NewFile(entry("write")); }

void OutputFile::append_line(std::string_view line) const { file_entry::append_line(entry("write"), line); }

Descriptor OutputFile::open_to_append() const {
  Descriptor fd = file_entry::open_to_append(entry("write"));
  if (fd.get() < 0) file_entry::fail("write", path_, errno);
  return fd;
}

void OutputFile::synchronise() const { file_entry::synchronise(entry("write")); }

void OutputFile::remove() const {
  if (exists()) file_entry::remove(entry("remove"));
}

OutputFile OutputFile::free_name() const {
  for (int n = 1;; ++n) {
    const std::string suffix = n == 1 ? ".damaged" : fmt::format(".damaged-{}", n);
    OutputFile free = beside(name() + suffix);
    if (!free.exists()) return free;
  }
}

OutputFile OutputFile::set_aside() const {
  OutputFile to = free_name();
  const file_entry::Entry from = entry("rename");
  if (file_entry::made_to_fail(path_)) file_entry::fail("rename", path_, errno);
  if (before_change_) before_change_();
  if (::renameat(from.at(), from.name.c_str(), from.at(), to.name().c_str()) != 0)
    file_entry::fail("rename", path_, errno);
  return to;
}

OutputFile OutputFile::copy_aside() const {
  OutputFile to = free_name();
  const file_entry::Entry from = entry("copy");
  if (file_entry::made_to_fail(path_)) file_entry::fail("copy", path_, errno);
  if (before_change_) before_change_();
  if (::linkat(from.at(), from.name.c_str(), from.at(), to.name().c_str(), 0) == 0) return to;
  const auto parts = open();
  if (!parts) throw Unreadable(parts.error);
  NewFile copy = to.create();
  std::string block;
  constexpr std::uint64_t most = std::uint64_t{1} << 20;
  for (std::uint64_t at = 0; at < parts->size(); at += block.size()) {
    block.resize(std::min(most, parts->size() - at));
    if (const std::string why = parts->read(at, std::as_writable_bytes(std::span(block))); !why.empty())
      throw Unreadable(why);
    copy.write(block);
  }
  copy.finish();
  return to;
}

void OutputFile::make_folder() const {
  const fs::path folder = folder_.empty() ? "." : folder_;
  if (const int error = file_entry::try_make_folder(folder)) file_entry::fail("make the folder", folder, error);
  fs::path made;
  for (const fs::path& name : below_) {
    made /= name;
    file_entry::Entry entry;
    const fs::path path = folder_ / made;
    if (file_entry::made_to_fail(path)) file_entry::fail("make the folder", path, errno);
    if (!file_entry::open_below(folder, made, entry)) file_entry::fail("make the folder", path, errno);
    constexpr ::mode_t all = 0777;
    if (::mkdirat(entry.at(), entry.name.c_str(), all) == 0) continue;
    struct stat about = {};
    if (errno != EEXIST) file_entry::fail("make the folder", path, errno);
    if (::fstatat(entry.at(), entry.name.c_str(), &about, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(about.st_mode))
      file_entry::fail("make the folder", path, S_ISLNK(about.st_mode) ? ELOOP : ENOTDIR);
  }
}

void OutputFile::remove_leftovers() const {
  file_entry::Entry entry;
  if (open_below(entry)) file_entry::remove_leftovers(open_folder_in(entry));
}

void OutputFile::touch() const {
  file_entry::Entry entry;
  if (open_below(entry)) ::utimensat(entry.at(), entry.name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

void OutputFolder::make() const {
  make_output_folder(folder);
  if (below.empty()) return;
  try {
    OutputFile(folder, below).make_folder();
  } catch (const Failed& failed) {
    throw Refused(failed.what());
  }
}

} // namespace heed
