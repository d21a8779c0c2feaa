#include "experiments/system/stop_signals.hpp"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace heed {
namespace {

volatile std::sig_atomic_t asked = 0;
volatile std::sig_atomic_t last_signal = SIGINT;
volatile std::sig_atomic_t patience = 0;
struct sigaction interrupt_before, terminate_before;

/// Milliseconds of a clock when the first signal arrived. A signal handler may use lock-free atomics only.
std::atomic<std::int64_t> first_at = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t now_in_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now); // a signal handler may call it
  return std::int64_t{1000} * now.tv_sec + now.tv_nsec / 1'000'000;
}

/// `timeout -s INT` sends the signal to the process and to its process group, so that it arrives twice at once. Nobody
/// types Ctrl-C twice within this time.
constexpr std::int64_t same_request_ms = 500;

extern "C" void heed_on_stop_signal(int signal) {
  const std::int64_t now = now_in_milliseconds();
  if (asked == 0) first_at = now;
  if (asked != 0 && patience == 0 && signal == SIGINT && now - first_at >= same_request_ms) {
    // The default action then ends the process as soon as this function returns.
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  asked = 1;
  last_signal = signal;
}

} // namespace

StopSignals::StopSignals(bool patient) {
  asked = 0;
  patience = patient ? 1 : 0;
  struct sigaction action = {};
  action.sa_handler = heed_on_stop_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &interrupt_before);
  sigaction(SIGTERM, &action, &terminate_before);
}

StopSignals::~StopSignals() {
  sigaction(SIGINT, &interrupt_before, nullptr);
  sigaction(SIGTERM, &terminate_before, nullptr);
  asked = 0;
}

bool StopSignals::requested() { return asked != 0; }
int StopSignals::last() { return last_signal; }

} // namespace heed
