// The process that owns a lease: whether it lives, and how long a file that it renews has not changed, by this
// process's own clock.
#include "experiments/system/lease.hpp"

#include "autograd/fork_safe.hpp"
#include "experiments/system/files.hpp"
#include "experiments/system/machine.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <sys/types.h>
#include <system_error>
#include <unistd.h>

namespace heed {
namespace {

namespace fs = std::filesystem;

std::string link_target(const char* path) {
  std::error_code error;
  const fs::path target = fs::read_symlink(path, error);
  return error ? "" : target.string();
}

/// From /proc/PROCESS/stat: a process's state and its start time.
struct ProcessSnapshot {
  char state = '?';
  std::uint64_t started = 0;
};

std::optional<ProcessSnapshot> snapshot_of(std::int64_t process) {
  constexpr int started = 19; // number of fields after the state
  const auto text = read_file(fmt::format("/proc/{}/stat", process));
  if (!text) return std::nullopt;
  // The program's name is in parentheses and may contain any character.
  const std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 2 >= text->size()) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 2);
  ProcessSnapshot look{rest.front(), 0};
  for (int word = 0; word < started; ++word) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(space + 1);
  }
  std::from_chars(rest.data(), rest.data() + rest.size(), look.started);
  return look;
}

bool process_lives(const LeaseOwner& owner) {
  if (::kill(static_cast<::pid_t>(owner.process), 0) != 0 && errno == ESRCH) return false;
  const auto look = snapshot_of(owner.process);
  if (!look) return true; // exists, but is hidden from this user
  return look->state != 'Z' && look->state != 'X' && look->started == owner.started;
}

using Clock = std::chrono::steady_clock;

/// What this process knows of a file's present state.
struct Sighting {
  std::string state;
  Clock::time_point first;                                 ///< when it was seen first
  std::array<std::optional<Clock::time_point>, 2> changed; ///< when it began, by each AgeClock
};

struct Sightings {
  std::map<std::filesystem::path, Sighting> of; ///< one for each file, so that it stays small

  Sighting& at(const std::filesystem::path& file, const std::string& state) {
    Sighting& sighting = of[file];
    if (sighting.state != state) sighting = {state, Clock::now(), {}};
    return sighting;
  }
};

ForkSafe<Sightings>& sightings() {
  static ForkSafe<Sightings> all;
  return all;
}

} // namespace

LeaseOwner this_process() {
  LeaseOwner me;
  me.host = this_host();
  me.boot = this_boot();
  me.space = link_target("/proc/self/ns/pid");
  me.process = ::getpid();
  if (const auto look = snapshot_of(me.process)) me.started = look->started;
  const char *array = std::getenv("SLURM_ARRAY_JOB_ID"), *task = std::getenv("SLURM_ARRAY_TASK_ID"),
             *job = std::getenv("SLURM_JOB_ID");
  if (array && task) me.job = fmt::format("{}_{}", array, task);
  else if (job) me.job = job;
  return me;
}

std::optional<bool> seen_alive(const LeaseOwner& owner) {
  const LeaseOwner me = this_process();
  if (me.boot.empty() || owner.host != me.host) return std::nullopt;
  // This machine before its last boot, or another machine of the same name, which may be alive.
  if (owner.boot != me.boot) return std::nullopt;
  return owner.space == me.space ? std::optional(process_lives(owner)) : std::nullopt;
}

Clock::duration time_unchanged(const std::filesystem::path& file, const std::string& state, Clock::time_point asked,
                               AgeClock clock, const std::function<double()>& age) {
  const auto since = [&](const Sighting& sighting) { return sighting.changed.at(static_cast<std::size_t>(clock)); };
  {
    const auto all = sightings().lock();
    const Sighting& sighting = all->at(file, state);
    if (since(sighting)) return asked - std::min(sighting.first, *since(sighting));
  }
  // Not under the lock: it may take long.
  constexpr double longest = 1e8; // in seconds, so that the clock's numbers suffice
  const auto old = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::clamp(age(), 0.0,
                                                                                                        longest)));
  const auto all = sightings().lock();
  Sighting& sighting = all->at(file, state);
  sighting.changed.at(static_cast<std::size_t>(clock)) = asked - old;
  return asked - std::min(sighting.first, asked - old);
}

} // namespace heed
