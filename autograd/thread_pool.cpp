#include "autograd/thread_pool.hpp"

#include "autograd/error.hpp"
#include "autograd/subnormal.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <optional>
#include <system_error>

namespace heed {

namespace {

using Clock = std::chrono::steady_clock;

// A thread without work spins for this long before it sleeps: longer than most operations that offer no parts.
constexpr auto longest_spin = std::chrono::microseconds(200);
// Work that is shorter than this on one thread is not worth a part: to offer a part and to wait for it takes one to two
// microseconds.
constexpr double shortest_part = 5000;
// Work that is longer than this wakes threads that sleep, and has two parts for each thread: the first thread that is
// ready takes the next part.
constexpr double long_work = 200'000;
constexpr int most_parts = 32;

// The worker that the current thread is, if it executes a job and no part.
struct Place {
  ThreadPool* pool = nullptr;
  int worker = 0;
};
thread_local Place here;
thread_local int cuts = 0; // of CutEverything

class PlaceScope {
public:
  explicit PlaceScope(const Place& place) : before_(std::exchange(here, place)) {}
  ~PlaceScope() { here = before_; }
  PlaceScope(const PlaceScope&) = delete;
  PlaceScope& operator=(const PlaceScope&) = delete;

private:
  Place before_;
};

// Makes a thread wait without a system call. It never gives its core up (sched_yield): two threads on one core that do
// this in turns stay there, and the kernel moves neither of them to a free core.
class Spin {
public:
  /// Waits a little. Returns true after `longest_spin`.
  bool too_long() {
#if defined(__SSE2__)
    _mm_pause();
#endif
    if (++count_ % 64 != 0) return false;
    const Clock::time_point now = Clock::now();
    if (std::exchange(again_, false)) begin_ = now;
    return now - begin_ > longest_spin;
  }
  /// The time begins again.
  void again() { again_ = true; }

private:
  int count_ = 0;
  bool again_ = true;
  Clock::time_point begin_ = {};
};

constexpr int call_shift = 40, next_shift = 20;
constexpr std::uint64_t job_mask = (1 << 20) - 1, part_mask = std::numeric_limits<std::uint32_t>::max();

} // namespace

// A thread that has no job at the moment, and is awake.
class ThreadPool::Waiting {
public:
  explicit Waiting(ThreadPool& pool) : pool_(pool) { pool_.waiting_.fetch_add(1); }
  ~Waiting() { pool_.waiting_.fetch_sub(1); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

private:
  ThreadPool& pool_;
};

ThreadPool::ThreadPool(int threads, Ranks* ranks, int most) : ranks_(ranks), most_(std::max(threads, most)) {
  if (threads < 1) throw Failed(fmt::format("[thread_pool] there must be at least one thread, not {}", threads));
  offers_ = std::make_unique<Offer[]>(static_cast<std::size_t>(most_));
  threads_.reserve(static_cast<std::size_t>(most_ - 1));
  try {
    for (int worker = 1; worker < threads; ++worker) threads_.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error& error) {
    const std::size_t started = threads_.size() + 1;
    end();
    throw Failed(
        fmt::format("[thread_pool] the system started {} of {} threads, then no more: {}; stop other programs, raise "
                    "the limit (ulimit -u, or the container's), or give fewer --threads or --jobs",
                    started, threads, error.code().message()));
  }
}

ThreadPool::~ThreadPool() { end(); }

void ThreadPool::grow(int threads) {
  try {
    for (int worker = this->threads(); worker < std::min(threads, most_); ++worker)
      threads_.emplace_back([this, worker] { work(worker); });
  } catch (const std::system_error&) { // NOLINT(bugprone-empty-catch): the pool does its work with fewer
  }
}

void ThreadPool::end() {
  stop_ = true;
  wake_all();
  for (std::thread& thread : threads_) thread.join();
}

// A thread that is about to sleep counts itself in asleep_ first and then looks for work once more; here the work is
// published first, and then asleep_ is read. So one of the two sees the other.
void ThreadPool::wake_all() {
  if (asleep_ == 0) return;
  const std::lock_guard lock(mutex_);
  ++wakes_;
  wake_.notify_all();
}

void ThreadPool::run(int jobs, const Job& job, int takers) {
  if (jobs > most_jobs) {
    for (int first = 0; first < jobs; first += most_jobs) run({first, std::min(first + most_jobs, jobs)}, job, takers);
    return;
  }
  const SubnormalsAreZero mode;
  const PlaceScope scope({});
  if (threads_.empty()) {
    for (int i = 0; i < jobs; ++i) job(i, 0);
    return;
  }
  job_ = &job;
  done_ = 0;
  failed_job_ = std::numeric_limits<int>::max();
  takers_ = takers > 0 ? takers : threads();
  const std::uint64_t call = (jobs_.load() >> call_shift) + 1;
  jobs_ = call << call_shift | static_cast<std::uint64_t>(jobs);
  wake_all();
  take_jobs(0);
  wait_for_jobs();
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr)) std::rethrow_exception(failure);
}

void ThreadPool::run(std::pair<int, int> share, const Job& job, int takers) {
  run(
      share.second - share.first, [&](int i, int worker) { job(share.first + i, worker); }, takers);
}

void ThreadPool::take_jobs(int worker) {
  with_jobs_.fetch_add(1);
  const PlaceScope scope({this, worker});
  std::uint64_t jobs = jobs_.load(std::memory_order_acquire);
  for (;;) {
    const auto next = static_cast<int>(jobs >> next_shift & job_mask), count = static_cast<int>(jobs & job_mask);
    // takers_ belongs to these jobs if one of them can still be taken.
    if (next >= count || worker >= takers_) break;
    if (!jobs_.compare_exchange_weak(jobs, jobs + (std::uint64_t{1} << next_shift), std::memory_order_acq_rel))
      continue;
    // Jobs are taken in order, so a job that comes after one that failed is not needed any more.
    if (next < failed_job_) {
      try {
        (*job_)(next, worker);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (next < failed_job_) {
          failed_job_ = next;
          failure_ = std::current_exception();
        }
      }
    }
    if (done_.fetch_add(1) + 1 == count && worker != 0) {
      const std::lock_guard lock(mutex_);
      all_done_.notify_all();
    }
    jobs = jobs_.load(std::memory_order_acquire);
  }
  with_jobs_.fetch_sub(1);
}

// The calling thread of `run` helps until all jobs are done.
void ThreadPool::wait_for_jobs() {
  const auto count = static_cast<int>(jobs_.load() & job_mask);
  const auto done = [&] { return done_.load(std::memory_order_acquire) == count; };
  if (done()) return;
  std::optional<Waiting> waiting(*this);
  Habit habit;
  for (Spin spin; !done();) {
    if (help(0, habit) || offers_[habit.worker].left.load(std::memory_order_relaxed) > 0) spin.again();
    else if (spin.too_long()) break;
  }
  waiting.reset();
  std::unique_lock lock(mutex_);
  all_done_.wait(lock, done);
}

void ThreadPool::work(int worker) {
  const SubnormalsAreZero mode;
  std::uint64_t seen = 0;
  const auto has_jobs = [&] { return jobs_.load() >> call_shift != seen; };
  Habit habit;
  for (;;) {
    std::optional<Waiting> waiting(*this);
    for (Spin spin; !has_jobs() && !stop_;) {
      if (help(worker, habit) || offers_[habit.worker].left.load(std::memory_order_relaxed) > 0) {
        spin.again();
      } else if (spin.too_long()) {
        waiting.reset();
        std::unique_lock lock(mutex_);
        const std::uint64_t wakes = wakes_;
        ++asleep_;
        wake_.wait(lock, [&] { return has_jobs() || stop_ || wakes_ != wakes; });
        --asleep_;
        waiting.emplace(*this);
        spin.again();
      }
    }
    waiting.reset();
    if (stop_) return;
    seen = jobs_.load() >> call_shift;
    take_jobs(worker);
  }
}

int ThreadPool::threads_for(double nanoseconds) {
  int others = waiting_.load(std::memory_order_relaxed);
  const bool is_long = nanoseconds > long_work;
  if (const int asleep = asleep_.load(std::memory_order_relaxed); is_long && asleep > 0) {
    others += asleep;
    wake_all();
  }
  if (others == 0) return 1;
  const int sharing = std::max(1, with_jobs_.load(std::memory_order_relaxed));
  const int available = 1 + (others + sharing - 1) / sharing;
  const double most = std::min(nanoseconds / shortest_part, double{most_parts});
  return std::clamp(static_cast<int>(most), 1, is_long ? 2 * available : available);
}

void ThreadPool::offer_parts(int worker, int parts, const Job& part) {
  Offer& offer = offers_[static_cast<std::size_t>(worker)];
  offer.part = &part;
  offer.left.store(parts, std::memory_order_relaxed);
  const std::uint64_t number = (offer.open.load(std::memory_order_relaxed) >> 32) + 1;
  offer.open.store(number << 32 | part_mask >> (most_parts - parts), std::memory_order_release);
  while (take_part(offer, worker, 0) >= 0) {
  }
  Spin spin;
  for (int left = 0; (left = offer.left.load(std::memory_order_acquire)) != 0;)
    if (spin.too_long()) offer.left.wait(left, std::memory_order_acquire);
  if (!offer.failure) return;
  std::rethrow_exception(std::exchange(offer.failure, nullptr));
}

// Takes the part `bit` if it is open, else another one, and executes it. Returns the part; -1 if none is open.
int ThreadPool::take_part(Offer& offer, int worker, int bit) {
  std::uint64_t open = offer.open.load(std::memory_order_acquire);
  int taken = 0;
  do {
    const auto parts = static_cast<std::uint32_t>(open);
    if (parts == 0) return -1;
    taken = parts >> bit & 1U ? bit : std::countr_zero(parts);
  } while (!offer.open.compare_exchange_weak(open, open & ~(std::uint64_t{1} << taken), std::memory_order_acq_rel,
                                             std::memory_order_acquire));
  {
    const PlaceScope scope({}); // operations within a part offer no parts
    try {
      (*offer.part)(taken, worker);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      offer.failure = std::current_exception();
    }
  }
  offer.left.fetch_sub(1, std::memory_order_acq_rel);
  offer.left.notify_one();
  return taken;
}

// Executes a part of another worker's operation. Returns false if there is none.
bool ThreadPool::help(int worker, Habit& habit) {
  const auto help_one = [&](std::size_t other) {
    Offer& offer = offers_[other];
    if (static_cast<std::uint32_t>(offer.open.load(std::memory_order_relaxed)) == 0) return false;
    const int part = take_part(offer, worker, habit.bit);
    if (part >= 0) habit = {other, part, 0};
    return part >= 0;
  };
  constexpr int patience = 32; // its usual worker may be between two operations
  if (habit.misses < patience) {
    if (help_one(habit.worker)) return true;
    ++habit.misses;
    return false;
  }
  for (std::size_t other = 0; other < static_cast<std::size_t>(most_); ++other)
    if (help_one(other)) return true;
  return false;
}

int threads_for(double nanoseconds) {
  if (cuts > 0) [[unlikely]]
    return cuts;
  return here.pool ? here.pool->threads_for(nanoseconds) : 1;
}

void run_parts(int parts, const Job& part) {
  if (parts > 1 && here.pool) return here.pool->offer_parts(here.worker, parts, part);
  for (int i = parts; i-- > 0;) part(i, 0);
}

CutEverything::CutEverything(int parts) : before_(std::exchange(cuts, parts)) {}
CutEverything::~CutEverything() { cuts = before_; }

} // namespace heed
