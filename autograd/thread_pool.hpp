// ThreadPool: threads that execute the shards of a batch. Threads that have no shard help the others within an
// operation. Results have the same bits for any number of threads.
#pragma once

#include "autograd/ranks.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace heed {

/// A function of a job's index and the worker that executes it. A Job refers to the function object: it copies nothing
/// and allocates nothing on the heap.
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

/// A fixed number of threads that execute numbered jobs, and optionally other processes that do the rest of the
/// same work. Any thread may execute a job, so a job must not depend on its thread. In jobs, subnormal numbers are zero
/// on every thread (autograd/subnormal.hpp).
///
/// A thread without a job helps the threads that have one: they offer parts of an operation (run_parts). A thread that
/// waits first spins, because an operation's part takes only some microseconds, and then sleeps.
class ThreadPool {
public:
  /// `threads` >= 1; the calling thread is one of them.
  /// @param ranks  the processes of the group, including this one; null: there is only this process
  /// @param most  the number of threads to which the pool may grow; 0: it does not grow
  explicit ThreadPool(int threads, Ranks* ranks = nullptr, int most = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  Ranks* ranks() const { return ranks_; }
  int threads() const { return static_cast<int>(threads_.size()) + 1; }
  /// The number of threads to which the pool may grow.
  int most_threads() const { return most_; }
  /// Starts more threads, if the pool has fewer and the system allows it. Not called from a job.
  void grow(int threads);

  /// Executes job(i, worker) for i = 0 .. jobs - 1 and returns when all are done. worker is 0 .. threads - 1, and no
  /// two jobs run on one worker at the same time. If jobs throw, it rethrows the exception of the job with the lowest
  /// index.
  /// @param takers  only the first `takers` workers take jobs, and the others help; 0: all workers take jobs
  void run(int jobs, const Job& job, int takers = 0);
  /// Executes job(i, worker) only for the jobs in [first, second): this process's share.
  void run(std::pair<int, int> share, const Job& job, int takers = 0);

private:
  friend int threads_for(double nanoseconds);
  friend void run_parts(int parts, const Job& part);

  // The parts of the operation that a worker executes now. Only this worker offers parts here; any thread takes them.
  struct alignas(64) Offer {
    std::atomic<std::uint64_t> open{0}; // the offer's number << 32 | one bit for each part that nobody has taken
    const Job* part = nullptr;
    alignas(64) std::atomic<int> left{0}; // parts that are not done
    std::exception_ptr failure;           // guarded by mutex_
  };
  // The part that a helper took last. It takes the same one again if it can, because the data may be in its cache.
  struct Habit {
    std::size_t worker = 0;
    int bit = 0;
    int misses = std::numeric_limits<int>::max(); // times in succession that this worker had no open part
  };
  class Waiting;
  static constexpr int most_jobs = (1 << 20) - 1; // that jobs_ can count

  void end();
  void work(int worker);
  void take_jobs(int worker);
  void wait_for_jobs();
  bool help(int worker, Habit& habit);
  int take_part(Offer& offer, int worker, int bit);
  void offer_parts(int worker, int parts, const Job& part);
  int threads_for(double nanoseconds);
  void wake_all();

  Ranks* ranks_;
  std::vector<std::thread> threads_;
  int most_;
  std::unique_ptr<Offer[]> offers_; // one for each worker, also for those to come

  // The jobs of a call of `run`: the call's number << 40 | the next job << 20 | the number of jobs.
  alignas(64) std::atomic<std::uint64_t> jobs_{0};
  const Job* job_ = nullptr;
  std::atomic<int> takers_{0};
  alignas(64) std::atomic<int> done_{0};
  std::atomic<int> failed_job_;
  std::exception_ptr failure_; // guarded by mutex_
  alignas(64) std::atomic<int> with_jobs_{0}, waiting_{0}, asleep_{0};
  std::atomic<std::uint64_t> wakes_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable wake_, all_done_;
};

/// How many threads could share this work of the current operation: this thread, and threads of its pool that have no
/// job. At least 1; 1 if the work is too short, outside of a pool, and within a part.
/// @param nanoseconds  the estimated time of the work on one thread
int threads_for(double nanoseconds);

/// Calls part(i, _) for i = 0 .. parts - 1, on this thread and on threads of its pool that have no job. Returns when
/// all calls have returned. The parts must not depend on each other. `parts` is at most the result of threads_for. If
/// parts throw, it rethrows one of the exceptions.
void run_parts(int parts, const Job& part);

/// For tests, while it exists: this thread cuts every operation into `parts` parts, however short it is, and executes
/// them from the last to the first.
class CutEverything {
public:
  explicit CutEverything(int parts);
  ~CutEverything();
  CutEverything(const CutEverything&) = delete;
  CutEverything& operator=(const CutEverything&) = delete;

private:
  int before_;
};

/// Where part `part` of `parts` of n things begins.
constexpr std::int64_t begin_of_part(std::int64_t n, int part, int parts) { return n * part / parts; }

/// Calls f(begin, end) for ranges that together are [0, n), on as many threads as the work is worth. Ranges begin at
/// multiples of `multiple`. The results must not depend on the ranges: f may not add up values across elements.
/// @param each  the estimated nanoseconds for one element on one thread
template <class F> void in_parallel(std::int64_t n, double each, std::int64_t multiple, const F& f) {
  const int parts = threads_for(static_cast<double>(n) * each);
  if (parts == 1) {
    if (n > 0) f(std::int64_t{0}, n);
    return;
  }
  const std::int64_t blocks = (n + multiple - 1) / multiple;
  run_parts(parts, [&](int part, int) {
    const std::int64_t begin = begin_of_part(blocks, part, parts) * multiple;
    const std::int64_t end = std::min(begin_of_part(blocks, part + 1, parts) * multiple, n);
    if (begin < end) f(begin, end);
  });
}

} // namespace heed
