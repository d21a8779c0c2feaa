// Lets the caller of a long function stop it.
#pragma once

#include <functional>

namespace heed {

/// A function that long functions call many times. To stop the long function, it throws. Several threads may call it at
/// once.
using Poll = std::function<void()>;

/// While it lives, the long functions that this thread calls (evaluation, outputs, inspection) call `poll` before each
/// batch, on all of their threads. Scopes may be nested; the innermost one counts.
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

} // namespace heed
