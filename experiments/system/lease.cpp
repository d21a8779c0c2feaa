#include "experiments/system/lease.hpp"

#include "experiments/system/descriptor.hpp"
#include "experiments/system/file_entry.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <condition_variable>
#include <csignal>
#include <fcntl.h>
#include <fmt/format.h>
#include <mutex>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <utility>

namespace heed {
namespace {

constexpr std::uint64_t longest_lease = 4096;

template <class Number> Number number_in(std::string_view text) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The content of a lease's file.
struct LeaseRecord {
  LeaseOwner owner;
  std::uint64_t inode = 0; ///< inode written by the owner; a copy of the file has a different inode and no owner
  std::string mark;        ///< unique for each time that the lease is taken
  bool whole = false;      ///< false: it was just created, or is damaged
  std::uint64_t file_inode = 0;
  double renewed = 0;                          ///< by the file system's clock, in seconds
  std::string state;                           ///< differs after each renewal
  std::chrono::steady_clock::time_point asked; ///< right before the file was read
};

double seconds_of(const struct timespec& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string text_of(const LeaseOwner& owner, std::uint64_t inode, const std::string& mark, std::uint64_t renewals) {
  return fmt::format("host {}\nboot {}\nspace {}\nprocess {}\nstarted {}\njob {}\ninode {}\nmark {}\nrenewed {:>12}\n",
                     owner.host, owner.boot, owner.space, owner.process, owner.started, owner.job, inode, mark,
                     renewals);
}

/// None if the file does not exist. Throws heed::Unreadable if it can't be read.
std::optional<LeaseRecord> read_lease_record(const OutputFile& file) {
  LeaseRecord record;
  record.asked = std::chrono::steady_clock::now();
  Descriptor fd;
  struct stat about = {};
  file_entry::Entry entry;
  entry.path = file.path();
  const auto found = file.open_below(entry) ? file_entry::open_regular(entry, fd, about)
                                            : file_entry::unread(file.path(), errno);
  if (found.problem == ReadProblem::missing) return std::nullopt;
  if (found.problem != ReadProblem::none) throw Unreadable(found.why);
  record.file_inode = about.st_ino;
  record.renewed = seconds_of(about.st_mtim);
  std::string text(longest_lease, '\0');
  const ::ssize_t n = ::pread(fd.get(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  record.state = fmt::format("{} {} {}\n{}", about.st_ino, about.st_mtim.tv_sec, about.st_mtim.tv_nsec, text);
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) break;
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    const std::size_t space = line.find(' ');
    const std::string_view key = line.substr(0, space);
    const std::string_view value = space == std::string_view::npos ? "" : line.substr(space + 1);
    if (key == "host") record.owner.host = value;
    else if (key == "boot") record.owner.boot = value;
    else if (key == "space") record.owner.space = value;
    else if (key == "process") record.owner.process = number_in<std::int64_t>(value);
    else if (key == "started") record.owner.started = number_in<std::uint64_t>(value);
    else if (key == "job") record.owner.job = value;
    else if (key == "inode") record.inode = number_in<std::uint64_t>(value);
    else if (key == "mark") record.mark = value;
    else if (key == "renewed") record.whole = true;
  }
  return record;
}

/// Whether the owner lives; none if this machine can't tell.
std::optional<bool> owner_seen_alive(const LeaseRecord& record) {
  if (!record.whole) return std::nullopt;
  if (record.inode != record.file_inode) return false;
  return seen_alive(record.owner);
}

/// How long a lease whose owner can't be seen lasts, if it is not renewed.
/// @param now  what `clock` says, in seconds
std::chrono::duration<double> time_left(const OutputFile& file, const LeaseRecord& record, const LeaseTimes& times,
                                        AgeClock clock, const std::function<double()>& now) {
  return times.lost_after -
         time_unchanged(file.path(), record.state, record.asked, clock, [&] { return now() - record.renewed; });
}

bool is_alive(const OutputFile& file, const LeaseRecord& record, const LeaseTimes& times, AgeClock clock,
              const std::function<double()>& now) {
  if (const auto seen = owner_seen_alive(record)) return *seen;
  return time_left(file, record, times, clock, now).count() > 0;
}

double machine_time() {
  struct timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return seconds_of(now);
}

[[noreturn]] void fail(const OutputFile& file, int error) { file_entry::fail("make", file.path(), error); }

std::string new_mark() {
  static std::atomic<unsigned> count{0};
  struct timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return fmt::format("{:x}-{:x}-{:x}-{}", now.tv_sec, now.tv_nsec, ::getpid(), count++);
}

/// A file with a unique name that is removed unless it gets another name.
class Draft {
public:
  Draft(const OutputFile& file, const std::string& mark)
      : entry_(file.entry("make")), name_(fmt::format(".{}.{}{}", file.name(), mark, aside_ending())) {
    fd_ = Descriptor(::openat(entry_.at(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (fd_.get() < 0) fail(file, errno);
  }
  ~Draft() {
    if (fd_.get() >= 0) ::unlinkat(entry_.at(), name_.c_str(), 0);
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  std::uint64_t inode() const { return about().st_ino; }
  /// The file system's clock when the file was written.
  double time() const { return seconds_of(about().st_mtim); }

  void write(const OutputFile& file, const std::string& text) {
    if (::write(fd_.get(), text.data(), text.size()) != static_cast<::ssize_t>(text.size())) fail(file, errno);
  }
  /// Gives the file its final name if no file has this name. Some file systems have no hard links; there, a file with
  /// the final name is created first and written afterwards.
  /// @return 0, EEXIST, or another errno
  int name_exclusively() {
    if (::linkat(entry_.at(), name_.c_str(), entry_.at(), entry_.name.c_str(), 0) == 0) return 0;
    if (errno == EEXIST) {
      // The reply may have been lost and the request repeated. The link may then exist in spite of the error.
      return about().st_nlink == 2 ? 0 : EEXIST;
    }
    return errno;
  }
  /// Renames the file to its final name and replaces an existing file.
  int name_instead() {
    return ::renameat(entry_.at(), name_.c_str(), entry_.at(), entry_.name.c_str()) == 0 ? 0 : errno;
  }

private:
  struct stat about() const {
    struct stat about = {};
    ::fstat(fd_.get(), &about);
    return about;
  }

  file_entry::Entry entry_; ///< of the lease's file
  std::string name_;
  Descriptor fd_;
};

bool has_no_second_names(int error) {
  return error == EPERM || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK || error == EXDEV;
}

/// For file systems without hard links: creates the file exclusively, then writes it. Until it is complete, other
/// processes treat it as just renewed.
int make_exclusively(const OutputFile& file, const LeaseOwner& owner, const std::string& mark) {
  const file_entry::Entry entry = file.entry("make");
  const Descriptor fd(::openat(entry.at(), entry.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  struct stat about = {};
  if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0) return errno;
  const std::string text = text_of(owner, about.st_ino, mark, 0);
  return ::write(fd.get(), text.data(), text.size()) == static_cast<::ssize_t>(text.size()) ? 0 : errno;
}

/// The file of a process that takes the lease over.
OutputFile taker_of(const OutputFile& file) { return file.beside(file.name() + ".replacing"); }

/// Takes over the lease of a dead owner. If several processes try, only one can create the file "NAME.replacing". It
/// checks again and then replaces the dead owner's file with its own.
/// @return whether it did
bool replace_dead(const OutputFile& file, const LeaseRecord& dead, Draft& draft, const LeaseTimes& times) {
  const OutputFile replacing = taker_of(file);
  const file_entry::Entry entry = replacing.entry("make");
  const Descriptor mine(::openat(entry.at(), entry.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (mine.get() < 0) {
    if (errno != EEXIST) fail(replacing, errno);
    const auto other = read_lease_record(replacing); // the process that made it may have died
    const auto now = [&] { return draft.time(); };
    if (other && time_left(replacing, *other, times, AgeClock::files, now).count() <= 0)
      ::unlinkat(entry.at(), entry.name.c_str(), 0);
    return false;
  }
  const auto now = read_lease_record(file);
  const bool done = now && now->state == dead.state && draft.name_instead() == 0;
  ::unlinkat(entry.at(), entry.name.c_str(), 0);
  return done;
}

/// What keeps this process from taking the lease: its owner or, if that is dead, another process that takes it over.
WaitedFor obstacle(const OutputFile& file, const LeaseTimes& times, AgeClock clock) {
  for (const OutputFile& at : {file, taker_of(file)}) {
    const auto record = read_lease_record(at);
    if (!record) continue;
    WaitedFor wait{fmt::format("'{}', which names no process", at.string()), ""};
    if (record->whole)
      wait.what = fmt::format("'{}' of process {} on {}", at.string(), record->owner.process, record->owner.host);
    const auto seen = owner_seen_alive(*record);
    if (seen.value_or(false)) return wait;
    const double left = time_left(at, *record, times, clock, machine_time).count();
    if (seen || left <= 0) continue;
    wait.until = fmt::format(": at most {:.0f} s, unless it is renewed", std::ceil(left));
    return wait;
  }
  return {fmt::format("'{}'", file.string()), ""};
}

} // namespace

/// The lease while this process owns it, and the thread that renews it.
class Lease::Held {
public:
  Held(OutputFile file, LeaseOwner owner, std::string mark, std::uint64_t inode, const LeaseTimes& times)
      : file_(std::move(file)), owner_(std::move(owner)), mark_(std::move(mark)), inode_(inode), times_(times) {
    // A small stack: with the usual size, the system would give the thread a large page.
    constexpr std::size_t stack = std::size_t{1} << 17;
    ::pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, stack);
    ::sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before); // other threads handle signals
    // If no thread can be created, processes on this machine still see that the owner lives.
    renewing_ = ::pthread_create(&thread_, &attributes, renew_in_thread, this) == 0;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::pthread_attr_destroy(&attributes);
  }

  ~Held() {
    {
      const std::lock_guard lock(mutex_);
      end_ = true;
    }
    wake_.notify_all();
    if (renewing_) ::pthread_join(thread_, nullptr);
    // After a long time without renewal, another process may be replacing it at this moment.
    if (renewing_ && std::chrono::steady_clock::now() - renewed_ >= times_.lost_after / 2) return;
    try {
      const file_entry::Entry entry = file_.entry("remove");
      if (is_own()) ::unlinkat(entry.at(), entry.name.c_str(), 0);
    } catch (const Failed&) {
      // Its folder does not exist any more.
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  bool lost() const { return lost_; }

  bool confirm() {
    const auto record = read_lease_record(file_);
    if (!record || record->mark != mark_ || record->file_inode != inode_) lost_ = true;
    return !lost_;
  }

private:
  /// The same as confirm, but a file that can't be read now belongs to this process if the lease is not known to be
  /// lost.
  bool is_own() try { return confirm(); } catch (const Unreadable&) {
    return !lost_;
  }

  static void* renew_in_thread(void* held) {
    static_cast<Held*>(held)->renew_until_the_end();
    return nullptr;
  }

  void renew_until_the_end() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, times_.renew, [this] { return end_; })) {
      lock.unlock();
      renew();
      lock.lock();
    }
  }

  /// Opens the file anew each time, because an NFS client then asks its server for the current file.
  void renew() try {
    const auto record = read_lease_record(file_);
    if (!record) return; // removed, perhaps with its folder; a new owner is noticed later
    if (record->mark != mark_ || record->file_inode != inode_) {
      lost_ = true;
      return;
    }
    const file_entry::Entry entry = file_.entry("write");
    const Descriptor fd(::openat(entry.at(), entry.name.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    struct stat about = {};
    if (fd.get() < 0 || ::fstat(fd.get(), &about) != 0 || about.st_ino != inode_) return;
    const std::string text = text_of(owner_, inode_, mark_, ++renewals_);
    if (::pwrite(fd.get(), text.data(), text.size(), 0) == static_cast<::ssize_t>(text.size()))
      renewed_ = std::chrono::steady_clock::now();
  } catch (const Failed&) {
    // Tried again the next time.
  }

  OutputFile file_;
  LeaseOwner owner_;
  std::string mark_;
  std::uint64_t inode_;
  LeaseTimes times_;
  std::uint64_t renewals_ = 0;
  std::chrono::steady_clock::time_point renewed_ = std::chrono::steady_clock::now();
  std::atomic<bool> lost_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool end_ = false, renewing_ = false;
  ::pthread_t thread_ = {};
};

Lease::Lease(std::unique_ptr<Held> held) : held_(std::move(held)) {}
Lease::Lease(Lease&&) noexcept = default;
Lease& Lease::operator=(Lease&&) noexcept = default;
Lease::~Lease() = default;

bool Lease::lost() const { return held_->lost(); }
bool Lease::confirm() { return held_->confirm(); }

std::optional<Lease> Lease::attempt(const OutputFile& file, const LeaseTimes& times, const LeaseOwner& owner) {
  const auto before = read_lease_record(file);
  const std::string mark = new_mark();
  const auto mine = [&](std::uint64_t inode) { return Lease(std::make_unique<Held>(file, owner, mark, inode, times)); };
  std::optional<Draft> made_draft; // only when it is needed, so that a process that waits writes nothing
  const auto draft = [&]() -> Draft& {
    if (!made_draft) {
      made_draft.emplace(file, mark);
      made_draft->write(file, text_of(owner, made_draft->inode(), mark, 0));
    }
    return *made_draft;
  };
  if (before) {
    if (is_alive(file, *before, times, AgeClock::files, [&] { return draft().time(); })) return std::nullopt;
    if (!replace_dead(file, *before, draft(), times)) return std::nullopt;
    return mine(draft().inode());
  }
  const int error = draft().name_exclusively();
  if (error == 0) return mine(draft().inode());
  if (error == EEXIST || error == ENOENT) return std::nullopt; // ENOENT: another process removed the draft as abandoned
  if (!has_no_second_names(error)) fail(file, error);
  const int made = make_exclusively(file, owner, mark);
  if (made == EEXIST) return std::nullopt;
  if (made != 0) fail(file, made);
  const auto record = read_lease_record(file);
  return mine(record ? record->file_inode : 0);
}

std::optional<Lease> Lease::wait(const OutputFile& file, const std::function<bool()>& give_up,
                                 const LeaseTimes& times) {
  Wait wait;
  for (;;) {
    if (auto lease = attempt(file, times)) return lease;
    if (give_up()) return std::nullopt;
    wait.pause(std::chrono::milliseconds(100), [&] { return obstacle(file, times, AgeClock::files); });
  }
}

bool Lease::make_free(const OutputFile& file) {
  const auto record = read_lease_record(file);
  const bool waits = (record && record->renewed > machine_time()) || taker_of(file).exists();
  return !waits || attempt(file).has_value();
}

WaitedFor Lease::waited_for(const OutputFile& file, const LeaseTimes& times) {
  return obstacle(file, times, AgeClock::machine);
}

std::optional<LeaseOwner> Lease::owner(const OutputFile& file, const LeaseTimes& times) try {
  const auto record = read_lease_record(file);
  if (!record || !is_alive(file, *record, times, AgeClock::machine, machine_time)) return std::nullopt;
  return record->owner;
} catch (const Unreadable&) {
  return std::nullopt;
}

} // namespace heed
