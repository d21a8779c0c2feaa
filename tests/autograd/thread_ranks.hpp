// A process group, simulated by threads of one process that communicate through memory.
#pragma once

#include "autograd/ranks.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heed {

/// Runs `work` once for each rank, each in its own thread, and rethrows the exception of the lowest rank that failed.
class ThreadRanks {
public:
  static void run(int count, const std::function<void(Ranks&)>& work) {
    ThreadRanks group;
    std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < count; ++rank)
      threads.emplace_back([&, rank] {
        One one(group, rank, count);
        try {
          work(one);
        } catch (...) {
          failures[static_cast<std::size_t>(rank)] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures)
      if (failure) std::rethrow_exception(failure);
  }

private:
  class One : public Ranks {
  public:
    One(ThreadRanks& group, int rank, int count) : group_(group), rank_(rank), count_(count) {}
    int rank() const override { return rank_; }
    int count() const override { return count_; }

    void exchange(int peer, std::span<const std::byte> out, std::span<std::byte> in) override {
      if (peer < 0 || peer >= count_ || peer == rank_) throw std::logic_error("there is no such peer");
      std::unique_lock lock(group_.mutex_);
      group_.sent_[{rank_, peer}].emplace_back(reinterpret_cast<const char*>(out.data()), out.size());
      group_.changed_.notify_all();
      auto& from = group_.sent_[{peer, rank_}];
      group_.changed_.wait(lock, [&] { return !from.empty(); });
      if (from.front().size() != in.size()) throw std::logic_error("a peer sent another number of bytes than expected");
      std::ranges::copy(std::as_bytes(std::span(from.front())), in.begin());
      from.pop_front();
    }

  private:
    ThreadRanks& group_;
    int rank_, count_;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::string>> sent_;
};

} // namespace heed
