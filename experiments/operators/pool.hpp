// Tapes and thread pools that calls of operators use one after the other.
#pragma once

#include "autograd/tape.hpp"
#include "autograd/thread_pool.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>
#include <vector>

namespace heed::HEED_REAL {

/// A list of objects for reuse. It is never destroyed, because threads may still use it when the process ends. If
/// another thread holds its lock, a call makes do with an object of its own: in the child of a fork, that thread does
/// not exist.
template <class T> class Pool {
public:
  /// The first object that fits, or null.
  template <class Fits> std::unique_ptr<T> take(const Fits& fits) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return nullptr;
    const auto at = std::ranges::find_if(all_, [&](const auto& x) { return fits(*x); });
    if (at == all_.end()) return nullptr;
    std::unique_ptr<T> out = std::move(*at);
    all_.erase(at);
    return out;
  }
  /// Stores the object for later calls, unless there are `most` already: then it is destroyed.
  void put(std::unique_ptr<T> object, std::size_t most) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && all_.size() < most) all_.push_back(std::move(object));
  }

private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> all_;
};

/// A tape for one call. Its memory serves later calls, unless it is large.
class TapeLease {
public:
  TapeLease() : tape_(pool().take([](const Tape&) { return true; })) {
    if (!tape_) tape_ = std::make_unique<Tape>();
  }
  ~TapeLease() {
    if (!tape_ || tape_->peak() > largest) return;
    tape_->rewind();
    pool().put(std::move(tape_), most);
  }
  TapeLease(TapeLease&&) noexcept = default;
  TapeLease& operator=(TapeLease&&) = delete;

  Tape& operator*() const { return *tape_; }
  Tape* operator->() const { return tape_.get(); }

private:
  static constexpr std::size_t most = 16, largest = std::size_t{64} << 20;
  static Pool<Tape>& pool() {
    static auto* const all = new Pool<Tape>;
    return *all;
  }

  std::unique_ptr<Tape> tape_;
};

/// A thread pool for one call. Its threads sleep until the next one.
class ThreadPoolLease {
public:
  explicit ThreadPoolLease(int threads)
      : threads_(pool().take([&](const OwnedThreads& t) {
          return t.workers.threads() == threads && t.process == getpid();
        })) {
    if (!threads_) threads_ = std::make_unique<OwnedThreads>(std::max(threads, 1));
  }
  ~ThreadPoolLease() { pool().put(std::move(threads_), most); }
  ThreadPoolLease(const ThreadPoolLease&) = delete;
  ThreadPoolLease& operator=(const ThreadPoolLease&) = delete;

  ThreadPool* operator->() const { return &threads_->workers; }

private:
  struct OwnedThreads {
    explicit OwnedThreads(int threads) : workers(threads) {}
    ThreadPool workers;
    pid_t process = getpid(); // a fork does not copy the threads
  };
  static constexpr std::size_t most = 64;
  static Pool<OwnedThreads>& pool() {
    static auto* const all = new Pool<OwnedThreads>;
    return *all;
  }

  std::unique_ptr<OwnedThreads> threads_;
};

} // namespace heed::HEED_REAL
