// Locks that do not stay locked in the child of a fork. A fork copies the memory, but only the thread that calls it: a
// std::mutex that another thread holds at that moment is never unlocked in the child.
#pragma once

#include <atomic>
#include <memory>
#include <unistd.h>

namespace heed {

/// A mutex that is free in the child of a fork if another thread of the parent held it.
class ForkSafeMutex {
public:
  /// Returns true if that was so. Then what the mutex protects may be half changed.
  bool lock() {
    const ::pid_t process = ::getpid();
    ::pid_t holder = none;
    while (!holder_.compare_exchange_weak(holder, process, std::memory_order_acquire)) {
      if (holder == none) continue;
      if (holder != process) {
        if (holder_.compare_exchange_strong(holder, process, std::memory_order_acquire)) return true;
      } else {
        holder_.wait(process);
      }
      holder = none;
    }
    return false;
  }
  void unlock() {
    holder_.store(none, std::memory_order_release);
    holder_.notify_one();
  }

private:
  static constexpr ::pid_t none = 0;

  std::atomic<::pid_t> holder_ = none; // the process that holds it
};

/// A value with the mutex that protects it. If a fork happened while another thread used the value, it starts anew in
/// the child; the old one is never destroyed, because the child may still use a part of it.
template <class T> class ForkSafe {
public:
  /// The value, locked as long as this object lives.
  class Held {
  public:
    explicit Held(ForkSafe& from) : from_(from) {}
    ~Held() { from_.mutex_.unlock(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    T& operator*() const { return *from_.value_; }
    T* operator->() const { return from_.value_.get(); }

  private:
    ForkSafe& from_;
  };

  Held lock() {
    if (mutex_.lock()) {
      static_cast<void>(value_.release());
      value_ = std::make_unique<T>();
    }
    return Held(*this);
  }

private:
  ForkSafeMutex mutex_;
  std::unique_ptr<T> value_ = std::make_unique<T>();
};

} // namespace heed
