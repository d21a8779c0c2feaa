// Work on parts of a batch, and sums over the parts that are the same bits whatever the threads.
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

/// A team: a fixed number of threads that run numbered jobs, and other processes beside this one, where there are some,
/// which do the rest of the same work. Which thread takes a job is left open: jobs must not care. In jobs,
/// subnormal numbers are zero, whatever the thread (autograd/subnormal.hpp).
class Workers {
public:
  /// `threads` >= 1; the calling thread is one of them.
  /// @param ranks  the team's processes, this one among them; none: it is alone
  explicit Workers(int threads, Ranks* ranks = nullptr);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  Ranks* ranks() const { return ranks_; }
  int threads() const { return static_cast<int>(threads_.size()) + 1; }

  /// Runs job(i, worker) for i = 0 .. jobs - 1 and returns when all are done; worker is 0 .. threads - 1, and no two
  /// jobs run on one worker at once. The first exception of the lowest job is thrown again here.
  void run(int jobs, const Job& job);
  /// Runs job(i, worker) for the jobs from first to second alone: this process's share.
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

/// Numbers that are summed in one go: part of what the bits of a result depend on, so never changed lightly.
inline constexpr std::int64_t sum_block = 8192;

/// parts[0] <- the sum over all parts, in a fixed tree: neighbours first, then neighbours of those. Each part holds
/// `extent` numbers; what stands in the others afterwards is undefined. Returns the sum of squares of the result, over
/// fixed blocks and in double, as global_norm has it.
double sum_parts(Workers& workers, const std::vector<Real*>& parts, std::int64_t extent);

/// The same sum, bit by bit, where the parts lie in the processes of the team, of which there are `shards` in all: this
/// one holds those of its aligned_share. What was parts[0], or `sum` where it has none, holds it afterwards, in each.
/// Lower levels of the tree are added in the processes. For each further level a process adds the half of what it has
/// added so far with its peer, who adds the other half; then they exchange halves. So each sends twice the extent at
/// most, whatever their number (Rabenseifner 2004, "Optimization of collective reduction operations").
double sum_parts_of_team(Workers& workers, const std::vector<Real*>& parts, Real* sum, int shards, std::int64_t extent);

} // namespace HEED_REAL
} // namespace heed
