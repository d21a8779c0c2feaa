// Work on parts of a batch, and sums over the parts that are the same bits whatever the threads.
#pragma once

#include "autograd/real.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace heed {

/// A function of a job's number and the worker that runs it, looked at where it stands: nothing is copied, and nothing
/// comes from the heap.
class Job {
public:
  // clang-format off
  template <class F>
    requires std::is_invocable_v<const F&, int, int>
  Job(const F& f) : f_(&f), call_([](const void* p, int i, int worker) { (*static_cast<const F*>(p))(i, worker); }) {}
  // clang-format on
  void operator()(int i, int worker) const { call_(f_, i, worker); }

private:
  const void* f_;
  void (*call_)(const void*, int, int);
};

/// A fixed number of threads that run numbered jobs. Which thread takes a job is left open: jobs must not care. In jobs,
/// subnormal numbers are zero, whatever the thread (autograd/subnormal.hpp).
class Workers {
public:
  /// `threads` >= 1; the calling thread is one of them.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  int threads() const { return static_cast<int>(threads_.size()) + 1; }

  /// Runs job(i, worker) for i = 0 .. jobs - 1 and returns when all are done; worker is 0 .. threads - 1, and no two
  /// jobs run on one worker at once. The first exception of the lowest job is thrown again here.
  void run(int jobs, const Job& job);

private:
  void work(int worker);
  void take_jobs(int worker);

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  const Job* job_ = nullptr;
  int jobs_ = 0, next_ = 0, running_ = 0;
  std::uint64_t round_ = 0;
  bool stop_ = false;
  int failed_job_ = -1;
  std::exception_ptr failure_;
};

namespace HEED_REAL {

/// Numbers that are summed in one go: part of what the bits of a result depend on, so never changed lightly.
inline constexpr std::int64_t sum_block = 8192;

/// parts[0] <- the sum over all parts, in a fixed tree: neighbours first, then neighbours of those. Each part holds
/// `extent` numbers; what stands in the others afterwards is undefined. Returns the sum of squares of the result, over
/// fixed blocks and in double, as global_norm has it.
double sum_parts(Workers& workers, const std::vector<Real*>& parts, std::int64_t extent);

} // namespace HEED_REAL
} // namespace heed
