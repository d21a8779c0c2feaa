#include "autograd/error.hpp"
#include "autograd/shards.hpp"
#include "autograd/subnormal.hpp"

#include <fmt/format.h>
#include <system_error>
#include <utility>

namespace heed {

Workers::Workers(int threads, Ranks* ranks) : ranks_(ranks) {
  if (threads < 1) throw Failed(fmt::format("[workers] there must be at least one thread, not {}", threads));
  threads_.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int worker = 1; worker < threads; ++worker) threads_.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error& error) {
    const std::size_t started = threads_.size() + 1;
    end();
    throw Failed(
        fmt::format("[workers] the system started {} of {} threads, then no more: {}; stop other programs, raise "
                    "the limit (ulimit -u, or the container's), or give fewer --threads or --jobs",
                    started, threads, error.code().message()));
  }
}

Workers::~Workers() { end(); }

void Workers::end() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Workers::run(int jobs, const Job& job) {
  {
    const std::lock_guard lock(mutex_);
    job_ = &job;
    jobs_ = jobs;
    next_ = 0;
    ++round_;
  }
  if (jobs > 1) wake_.notify_all();
  take_jobs(0);

  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  // A worker that wakes up only now finds no job and sleeps again; no thread waits for it.
  jobs_ = next_ = 0;
  job_ = nullptr;
  failed_job_ = -1;
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void Workers::run(std::pair<int, int> share, const Job& job) {
  run(share.second - share.first, [&](int i, int worker) { job(share.first + i, worker); });
}

void Workers::work(int worker) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || round_ != seen; });
      if (stop_) return;
      seen = round_;
    }
    take_jobs(worker);
  }
}

void Workers::take_jobs(int worker) {
  const SubnormalsAreZero mode;
  std::unique_lock lock(mutex_);
  while (next_ < jobs_) {
    const int i = next_++;
    ++running_;
    const Job& job = *job_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      job(i, worker);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    --running_;
    if (failure) {
      // Jobs are assigned in order, so the lowest job that fails has been assigned by now. No further jobs are needed.
      next_ = jobs_;
      if (failed_job_ < 0 || i < failed_job_) {
        failed_job_ = i;
        failure_ = failure;
      }
    }
  }
  if (running_ == 0) done_.notify_all();
}

} // namespace heed
