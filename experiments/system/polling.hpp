// Lets the caller of a long function stop it.
#pragma once

#include <cstddef>
#include <functional>

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

} // namespace heed
