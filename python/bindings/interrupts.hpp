// Long functions without Python's lock (the GIL), which Ctrl-C stops.
//
// The lock is for threads that may outlive Python's main thread.
// When the main thread ends, Python ends every other thread that wants its lock, by unwinding the thread's stack. C++
// code cannot be unwound like this: the program would crash. So these classes replace nanobind's: the work of other
// threads is asked to stop before Python ends, the main thread waits for it, and a thread that is too late sleeps until
// the process has ended.
#pragma once

#include "experiments/system/polling.hpp"

#include <atomic>
#include <chrono>
#include <nanobind/nanobind.h>
#include <optional>
#include <string>
#include <thread>

namespace heed::python {

/// Other threads of Python run while it lives. The thread has Python's lock before and after.
class Unlocked {
public:
  Unlocked();
  ~Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

private:
  PyThreadState* state_;
};

/// Has Python's lock while it lives, within an `Unlocked` of the same thread.
class Locked {
public:
  Locked();
  ~Locked();
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

private:
  PyGILState_STATE state_;
};

/// Whether Python ends, so that work for this thread is to stop. False for the thread that ends Python, and for those
/// that help it.
/// @param caller  the thread that called Heed
bool is_python_ending(std::thread::id caller = std::this_thread::get_id());

/// Never returns: for a thread that Python would unwind.
[[noreturn]] void sleep_until_process_ends();

/// Registers the function that asks all work to stop when Python ends, and waits for it.
void stop_work_at_exit();

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
