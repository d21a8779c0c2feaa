// Python's lock (the GIL), for threads that may outlive Python's main thread.
//
// When the main thread ends, Python ends every other thread that wants its lock, by unwinding the thread's stack. C++
// code cannot be unwound like this: the program would crash. So these classes replace nanobind's: the work of other
// threads is asked to stop before Python ends, the main thread waits for it, and a thread that is too late sleeps until
// the process has ended.
#pragma once

#include <nanobind/nanobind.h>

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

} // namespace heed::python
