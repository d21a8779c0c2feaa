// Waiting for another process: it can be stopped, and says what it waits for.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace heed {

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
