// Tests of stopping by signals.
#include "experiments/system/stop_signals.hpp"
#include "tests/catch.hpp"

#include <chrono>
#include <csignal>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace heed;

namespace {

/// How a process ends that gets SIGINT twice, so many milliseconds apart. It exits with 7 if it survives both and knows
/// that it is to stop.
int end_after_two(int milliseconds, bool patient) {
  const pid_t child = fork();
  if (child == 0) {
    const StopSignals signals(patient);
    if (StopSignals::requested()) _exit(1);
    std::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    std::raise(SIGINT);
    _exit(StopSignals::requested() ? 7 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

} // namespace

TEST_CASE("a second SIGINT ends the process, but not at once after the first", "[system]") {
  const int twice_at_once = end_after_two(0, false);
  CHECK((WIFEXITED(twice_at_once) && WEXITSTATUS(twice_at_once) == 7));
  const int later = end_after_two(600, false);
  CHECK((WIFSIGNALED(later) && WTERMSIG(later) == SIGINT));
  const int patient = end_after_two(600, true);
  CHECK((WIFEXITED(patient) && WEXITSTATUS(patient) == 7));
}
