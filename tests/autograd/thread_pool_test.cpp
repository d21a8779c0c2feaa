// Tests of ThreadPool: every job and every part runs once, a worker runs one job at a time, and failures are rethrown.
#include "autograd/error.hpp"
#include "autograd/thread_pool.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

using namespace heed;

TEST_CASE("every job runs once, on a worker that does nothing else", "[thread_pool]") {
  for (int threads : {1, 2, 5}) {
    ThreadPool workers(threads);
    CHECK(workers.threads() == threads);
    for (int jobs : {0, 1, 2, 7, 500}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(jobs)), busy(static_cast<std::size_t>(threads));
      std::atomic<int> wrong{0};
      workers.run(jobs, [&](int job, int worker) {
        if (worker < 0 || worker >= threads) {
          ++wrong;
          return;
        }
        if (busy[static_cast<std::size_t>(worker)]++ != 0) ++wrong;
        ++runs[static_cast<std::size_t>(job)];
        --busy[static_cast<std::size_t>(worker)];
      });
      CHECK(wrong == 0);
      CHECK(std::all_of(runs.begin(), runs.end(), [](const std::atomic<int>& n) { return n == 1; }));
    }
  }
}

TEST_CASE("jobs run at the same time on different threads", "[thread_pool]") {
  ThreadPool workers(3);
  std::atomic<int> arrived{0};
  // Each job waits for the others, so this ends only if all three run at the same time.
  workers.run(3, [&](int, int) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  CHECK(arrived == 3);
}

TEST_CASE("many short rounds after each other neither hang nor lose a job", "[thread_pool]") {
  ThreadPool workers(4);
  std::atomic<int> runs{0};
  for (int round = 0; round < 5000; ++round) workers.run(round % 6, [&](int, int) { ++runs; });
  CHECK(runs == 5000 / 6 * 15 + 0 + 1);
}

TEST_CASE("the failure of the lowest job comes back, and the workers go on", "[thread_pool]") {
  for (int threads : {1, 2, 4}) {
    ThreadPool workers(threads);
    for (int round = 0; round < 50; ++round) {
      std::string message;
      try {
        workers.run(40, [](int job, int) {
          // The lowest failing job fails last.
          if (job == 3) std::this_thread::sleep_for(std::chrono::microseconds(200));
          if (job >= 3 && job % 2 == 1) throw Failed("job " + std::to_string(job));
        });
      } catch (const Failed& failure) {
        message = failure.what();
      }
      CHECK(message == "job 3");
      std::atomic<int> runs{0};
      workers.run(8, [&](int, int) { ++runs; });
      CHECK(runs == 8);
    }
  }
}

TEST_CASE("more jobs than a call can count run all, once", "[thread_pool][many]") {
  ThreadPool workers(3);
  constexpr int jobs = 2'500'000;
  std::vector<std::atomic<std::uint8_t>> runs(jobs);
  workers.run(jobs, [&](int job, int) { ++runs[static_cast<std::size_t>(job)]; });
  CHECK(std::ranges::all_of(runs, [](const std::atomic<std::uint8_t>& n) { return n == 1; }));
}

TEST_CASE("only the first workers take jobs", "[thread_pool]") {
  ThreadPool workers(4);
  for (int takers : {1, 2, 3}) {
    std::atomic<int> runs{0}, highest{0};
    for (int round = 0; round < 200; ++round)
      workers.run(
          7,
          [&](int, int worker) {
            ++runs;
            if (worker > highest) highest = worker;
          },
          takers);
    CHECK(runs == 200 * 7);
    CHECK(highest < takers);
  }
}

TEST_CASE("a pool grows, up to its limit", "[thread_pool]") {
  ThreadPool workers(1, nullptr, 4);
  CHECK(workers.threads() == 1);
  CHECK(workers.most_threads() == 4);
  for (int threads : {2, 1, 3, 9}) {
    workers.grow(threads);
    std::atomic<int> runs{0};
    workers.run(50, [&](int, int) { ++runs; });
    CHECK(runs == 50);
  }
  CHECK(workers.threads() == 4);
  std::atomic<int> arrived{0};
  workers.run(4, [&](int, int) {
    ++arrived;
    while (arrived < 4) std::this_thread::yield();
  });
}

namespace {

// Waits until threads without a job are ready to help.
void await_help() {
  while (threads_for(1e9) < 2) std::this_thread::yield();
}

} // namespace

TEST_CASE("threads without a job take parts of an operation", "[thread_pool]") {
  ThreadPool workers(3);
  std::atomic<int> arrived{0};
  workers.run(1, [&](int, int) {
    await_help();
    // Both parts wait for the other, so this ends only if two threads take them.
    run_parts(2, [&](int, int) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
    });
  });
  CHECK(arrived == 2);
}

TEST_CASE("every part of every operation runs once, whoever takes it", "[thread_pool]") {
  ThreadPool workers(5);
  std::atomic<int> wrong{0};
  for (int jobs : {1, 2, 3}) {
    for (int round = 0; round < 100; ++round)
      workers.run(jobs, [&](int job, int) {
        for (int operation = 0; operation < 30; ++operation) {
          const int parts = 1 + (job + operation) % 7;
          std::vector<std::atomic<int>> runs(static_cast<std::size_t>(parts));
          run_parts(parts, [&](int part, int) { ++runs[static_cast<std::size_t>(part)]; });
          if (!std::ranges::all_of(runs, [](const std::atomic<int>& n) { return n == 1; })) ++wrong;
        }
      });
  }
  CHECK(wrong == 0);
}

TEST_CASE("ranges of an operation meet each other and begin at whole multiples", "[thread_pool]") {
  for (std::int64_t n : {0, 1, 5, 64, 1000})
    for (std::int64_t multiple : {1, 6, 64})
      for (int parts : {1, 2, 7}) {
        const CutEverything cut(parts);
        std::vector<int> runs(static_cast<std::size_t>(n));
        in_parallel(n, 1.0, multiple, [&](std::int64_t begin, std::int64_t end) {
          CHECK(begin % multiple == 0);
          CHECK(begin < end);
          for (std::int64_t i = begin; i < end; ++i) ++runs[static_cast<std::size_t>(i)];
        });
        CHECK(std::ranges::all_of(runs, [](int count) { return count == 1; }));
      }
}

TEST_CASE("a part's failure comes back, and the workers go on", "[thread_pool]") {
  ThreadPool workers(3);
  for (int round = 0; round < 50; ++round) {
    CHECK_THROWS_WITH(workers.run(1,
                                  [&](int, int) {
                                    if (round % 2 == 0) await_help();
                                    run_parts(3, [](int part, int) {
                                      if (part == 1) throw Failed("part 1");
                                    });
                                  }),
                      "part 1");
    std::atomic<int> runs{0};
    workers.run(2, [&](int, int) { run_parts(4, [&](int, int) { ++runs; }); });
    CHECK(runs == 8);
  }
}

TEST_CASE("outside of a pool, and for little work, nothing is shared", "[thread_pool]") {
  CHECK(threads_for(1e9) == 1);
  ThreadPool workers(3);
  std::atomic<int> wrong{0};
  workers.run(1, [&](int, int) {
    await_help();
    if (threads_for(100) != 1) ++wrong;
    run_parts(2, [&](int, int) {
      if (threads_for(1e9) != 1) ++wrong; // a part is not cut once more
    });
  });
  CHECK(wrong == 0);
}

TEST_CASE("there is at least one thread", "[thread_pool]") {
  CHECK_THROWS_WITH(ThreadPool(0), "[thread_pool] there must be at least one thread, not 0");
}

TEST_CASE("in jobs subnormal numbers are zero, whatever the thread, and outside they are not", "[thread_pool]") {
  volatile float small = 1e-30f, subnormal = 1e-40f;
  ThreadPool workers(2);
  std::vector<float> results(64, -1), operands(64, -1);
  workers.run(64, [&](int i, int) {
    results[static_cast<std::size_t>(i)] = small * 1e-10f; // 1e-40
    operands[static_cast<std::size_t>(i)] = subnormal * 1e20f;
  });
  for (std::size_t i = 0; i < results.size(); ++i) {
    CHECK(results[i] == 0);
    CHECK(operands[i] == 0);
  }
  CHECK(subnormal * 1e20f > 0);
}
