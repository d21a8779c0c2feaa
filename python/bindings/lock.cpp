#include "python/bindings/interrupts.hpp"

#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <unistd.h>

namespace nb = nanobind;

namespace heed::python {
namespace {

using namespace std::chrono_literals;

/// The main thread waits this long for work that was asked to stop. Workers that need longer notice by themselves that
/// this process has ended.
constexpr auto longest_wait = 10s;

std::atomic<int> working{0};  ///< the number of Unlocked objects
std::atomic<int> entering{0}; ///< threads that take Python's lock at this moment
std::atomic<bool> ending{false}, ended{false};
std::atomic<std::thread::id> ends_python;
thread_local int own_work = 0; ///< this thread's part of `working`

bool ends_python_itself() { return ends_python.load() == std::this_thread::get_id(); }

/// Calls `take`, unless it would unwind this thread.
template <class Take> auto take_lock(const Take& take) {
  ++entering; // the thread that ends Python waits for it
  if (ended && !ends_python_itself()) {
    --entering;
    sleep_until_process_ends();
  }
  const auto taken = take();
  --entering;
  return taken;
}

/// Ends the process without static destructors, which would destroy what threads that still work use.
void exit_at_once(int status, void*) {
  std::fflush(nullptr);
  ::_exit(status);
}

void stop_work() {
  ends_python = std::this_thread::get_id();
  ending = true;
  const auto until = std::chrono::steady_clock::now() + longest_wait;
  while (working > own_work && std::chrono::steady_clock::now() < until) {
    {
      const nb::gil_scoped_release unlocked;
      std::this_thread::sleep_for(2ms);
    }
    if (PyErr_CheckSignals() == 0) continue;
    PyErr_Clear(); // Ctrl-C: waits no longer
    break;
  }
  ended = true;
  while (entering > 0) {
    const nb::gil_scoped_release unlocked;
    std::this_thread::sleep_for(1ms);
  }
  if (working > own_work) ::on_exit(exit_at_once, nullptr);
}

/// The child of a fork has one thread.
void forget_other_threads() {
  working = own_work;
  entering = 0;
  ending = ended = false;
  ends_python = std::thread::id();
}

} // namespace

Unlocked::Unlocked() {
  ++working;
  ++own_work;
  state_ = PyEval_SaveThread();
}

Unlocked::~Unlocked() {
  if (is_python_ending()) {
    working -= own_work;
    sleep_until_process_ends();
  }
  take_lock([&] {
    PyEval_RestoreThread(state_);
    return true;
  });
  --own_work;
  --working;
}

Locked::Locked() : state_(take_lock([] { return PyGILState_Ensure(); })) {}

Locked::~Locked() { PyGILState_Release(state_); }

bool is_python_ending(std::thread::id caller) { return ending && ends_python.load() != caller; }

void sleep_until_process_ends() {
  for (;;) ::pause();
}

void stop_work_at_exit() {
  ::pthread_atfork(nullptr, nullptr, forget_other_threads);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(stop_work));
}

} // namespace heed::python
