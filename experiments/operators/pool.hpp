// Tapes and teams of threads that calls of operators use one after the other.
#pragma once

#include "autograd/tape.hpp"
#include "autograd/workers.hpp"

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

/// A team of threads for one call. Its threads sleep until the next one.
class TeamLease {
public:
  explicit TeamLease(int threads)
      : team_(pool().take([&](const Team& t) { return t.workers.threads() == threads && t.process == getpid(); })) {
    if (!team_) team_ = std::make_unique<Team>(std::max(threads, 1));
  }
  ~TeamLease() { pool().put(std::move(team_), most); }
  TeamLease(const TeamLease&) = delete;
  TeamLease& operator=(const TeamLease&) = delete;

  Workers* operator->() const { return &team_->workers; }

private:
  struct Team {
    explicit Team(int threads) : workers(threads) {}
    Workers workers;
    pid_t process = getpid(); // a fork does not copy the threads
  };
  static constexpr std::size_t most = 64;
  static Pool<Team>& pool() {
    static auto* const all = new Pool<Team>;
    return *all;
  }

  std::unique_ptr<Team> team_;
};

} // namespace heed::HEED_REAL
