// Lets the caller of a long function stop it, also while it waits for another process, and says what it waits for.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

namespace heed {

/// A function that long functions call many times. To stop the long function, it throws. Several threads may call it at
/// once.
using Poll = std::function<void()>;

/// While it lives, the long functions that this thread calls call `poll`: evaluation, outputs and inspection before
/// each batch, on all of their threads; comparisons and reports many times a second. Scopes may be nested; the
/// innermost one counts.
class PollScope {
public:
  explicit PollScope(Poll poll);
  ~PollScope();
  PollScope(const PollScope&) = delete;
  PollScope& operator=(const PollScope&) = delete;

  /// The function of this thread's scope, for as long as the scope lives. Null if there is no scope.
  static const Poll* current();

private:
  Poll poll_;
  const Poll* before_;
};

/// Calls the function of this thread's scope, if there is a scope.
inline void poll_caller() {
  if (const Poll* poll = PollScope::current()) (*poll)();
}

/// Polls in loops whose steps are too short for a poll each.
class PolledWork {
public:
  /// @param steps  how many steps of about a nanosecond were done since the last call
  void did(std::size_t steps) {
    done_ += steps;
    if (done_ < between) return;
    done_ = 0;
    poll_caller();
  }

private:
  static constexpr std::size_t between = std::size_t{1} << 18; ///< less than a millisecond
  std::size_t done_ = 0;
};

/// While it lives, this thread's waits for other processes report through `say` what they wait for. Scopes may be
/// nested; the innermost one counts.
class WaitScope {
public:
  using Say = std::function<void(const std::string&)>;

  explicit WaitScope(Say say);
  ~WaitScope();
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

private:
  Say say_;
  const Say* before_;
};

/// What a wait is for: `what` names it, and `until` says when the wait ends at the latest.
struct WaitedFor {
  std::string what, until;
  /// "waiting for WHATUNTIL"
  std::string in_words() const { return "waiting for " + what + until; }
};

/// One wait.
class Wait {
public:
  /// Sleeps for the time between two attempts. Before that, calls the function of this thread's PollScope, which throws
  /// to end the wait. A wait of more than a second is reported, and again if it is for something else.
  void pause(std::chrono::milliseconds time, const std::function<WaitedFor()>& what);

private:
  std::chrono::steady_clock::time_point next_report_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  std::string reported_;
};

} // namespace heed
