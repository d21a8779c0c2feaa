// Workers: parallel work on the shards of a batch, and sums over shards that have the same bits for any number of
// threads and processes.
#pragma once

#include "autograd/ranks.hpp"
#include "autograd/real.hpp"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
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

/// A team: a fixed number of threads that execute numbered jobs, and optionally other processes that do the rest of the
/// same work. Any thread may execute a job, so a job must not depend on its thread. In jobs, subnormal numbers are zero
/// on every thread (autograd/subnormal.hpp).
class Workers {
public:
  /// `threads` >= 1; the calling thread is one of them.
  /// @param ranks  the team's processes, including this one; null: there is only this process
  explicit Workers(int threads, Ranks* ranks = nullptr);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  Ranks* ranks() const { return ranks_; }
  int threads() const { return static_cast<int>(threads_.size()) + 1; }

  /// Executes job(i, worker) for i = 0 .. jobs - 1 and returns when all are done. worker is 0 .. threads - 1, and no
  /// two jobs run on one worker at the same time. If jobs throw, it rethrows the exception of the job with the lowest
  /// index.
  void run(int jobs, const Job& job);
  /// Executes job(i, worker) only for the jobs in [first, second): this process's share.
  void run(std::pair<int, int> share, const Job& job);

private:
  void work(int worker);
  void end();
  void take_jobs(int worker);

  Ranks* ranks_;
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

/// The number of values in one block of a sum. The bits of results depend on it, so change it only for a good reason.
inline constexpr std::int64_t sum_block = 8192;

/// parts[0] <- the sum over all parts, in a fixed binary tree: first parts that are neighbours, then neighbouring sums.
/// Each part has `extent` values; afterwards, the contents of the other parts are undefined. Returns the sum of squares
/// of the result, over fixed blocks and in double, as in global_norm.
double sum_parts(Workers& workers, const std::vector<Real*>& parts, std::int64_t extent);

/// The same sum, bit for bit, of `shards` parts that are distributed over the processes of the team. This process has
/// the parts of its aligned_share. Afterwards, parts[0], or `sum` in a process without parts, has the result, in every
/// process.
/// Each process adds the lower levels of the tree locally. At each further level, two peers each add one half of the
/// values that they have added so far. Then they exchange the halves. Each process therefore sends at most twice the
/// extent, for any number of processes (Rabenseifner 2004, "Optimization of collective reduction operations").
double sum_parts_of_team(Workers& workers, const std::vector<Real*>& parts, Real* sum, int shards, std::int64_t extent);

} // namespace HEED_REAL
} // namespace heed
