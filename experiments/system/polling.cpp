#include "experiments/system/polling.hpp"

#include <thread>
#include <utility>

namespace heed {

namespace {
thread_local const Poll* polled = nullptr;
thread_local const WaitScope::Say* said_through = nullptr;
} // namespace

PollScope::PollScope(Poll poll) : poll_(std::move(poll)), before_(std::exchange(polled, &poll_)) {}

PollScope::~PollScope() { polled = before_; }

const Poll* PollScope::current() { return polled; }

WaitScope::WaitScope(Say say) : say_(std::move(say)), before_(std::exchange(said_through, &say_)) {}

WaitScope::~WaitScope() { said_through = before_; }

void Wait::pause(std::chrono::milliseconds time, const std::function<WaitedFor()>& what) {
  if (const Poll* const poll = PollScope::current()) (*poll)();
  if (const auto now = std::chrono::steady_clock::now(); said_through && now >= next_report_) {
    next_report_ = now + std::chrono::seconds(1);
    const WaitedFor wait = what();
    if (wait.what != reported_) (*said_through)(wait.in_words());
    reported_ = wait.what;
  }
  std::this_thread::sleep_for(time);
}

} // namespace heed
