// Long functions without Python's lock (the GIL), which Ctrl-C stops.
#pragma once

#include "experiments/system/polling.hpp"
#include "python/bindings/lock.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>

namespace heed::python {

/// Asks Python for signals while a long function works.
class SignalCheck {
public:
  /// Returns, or throws to stop the work. Any thread may call it; only the thread that made this object asks Python.
  /// Python itself lets only its main thread handle signals. Called without the GIL.
  void poll() {
    if (stopped_ || is_python_ending(caller_)) throw Stopped();
    if (std::this_thread::get_id() != caller_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(20);
    const Locked locked;
    if (PyErr_CheckSignals() == 0) return;
    error_.emplace(); // the exception that the signal's handler raised: KeyboardInterrupt
    stopped_ = true;
    throw Stopped();
  }
  /// Throws what the signal's handler raised, if it raised anything. Called with the GIL.
  void rethrow() const {
    if (error_) throw nanobind::python_error(*error_);
  }

private:
  struct Stopped {};

  std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point next_ = {};
  std::atomic<bool> stopped_{false};
  std::optional<nanobind::python_error> error_;
};

/// Returns work(signals), which runs without the GIL. At Ctrl-C, engines stop, as does everything that polls `signals`
/// or waits for another process. Then this function throws Python's exception. They also stop when Python ends; then
/// this function does not return.
template <class Work> auto without_lock(const Work& work) {
  SignalCheck signals;
  try {
    const Unlocked unlocked;
    const PollScope scope([&signals] { signals.poll(); });
    const WaitScope waits([](const std::string& what) {
      const Locked locked;
      PySys_FormatStderr("heed: %s\n", what.c_str());
    });
    return work(signals);
  } catch (...) {
    signals.rethrow();
    throw;
  }
}

} // namespace heed::python
