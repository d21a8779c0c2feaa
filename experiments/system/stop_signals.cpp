#include "experiments/system/stop_signals.hpp"

#include <csignal>

namespace heed {
namespace {

volatile std::sig_atomic_t asked = 0;
volatile std::sig_atomic_t patience = 0;
struct sigaction interrupt_before, terminate_before;

extern "C" void heed_on_stop_signal(int signal) {
  if (asked != 0 && patience == 0 && signal == SIGINT) {
    // The default action then ends the process as soon as this function returns.
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  asked = 1;
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

} // namespace heed
