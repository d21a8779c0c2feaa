// A parallel loop for many small jobs that wait for the disk or the network.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace heed {

/// Calls `work(i)` once for each i below `count`: in this thread if count is small, else in four threads. If a call
/// throws, the first exception is rethrown here after all threads have ended.
template <class Work> void for_each_in_threads(std::size_t count, const Work& work) {
  constexpr std::size_t few = 5'000, threads = 4;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto share = [&](std::size_t first, std::size_t last) {
    try {
      for (std::size_t i = first; i < last; ++i) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  if (count < few) {
    share(0, count);
  } else {
    std::vector<std::jthread> workers;
    const std::size_t each = (count + threads - 1) / threads;
    for (std::size_t first = 0; first < count; first += each) {
      const std::size_t last = std::min(first + each, count);
      try {
        workers.emplace_back(share, first, last);
      } catch (const std::system_error&) { // no more threads can be started
        share(first, last);
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

} // namespace heed
