// Tests of Workers: every job runs once, a worker runs one job at a time, and the first failure is rethrown.
#include "autograd/error.hpp"
#include "autograd/shards.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>

using namespace heed;

TEST_CASE("every job runs once, on a worker that does nothing else", "[workers]") {
  for (int threads : {1, 2, 5}) {
    Workers workers(threads);
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

TEST_CASE("jobs run at the same time on different threads", "[workers]") {
  Workers workers(3);
  std::atomic<int> arrived{0};
  // Each job waits for the others, so this ends only if all three run at the same time.
  workers.run(3, [&](int, int) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  CHECK(arrived == 3);
}

TEST_CASE("many short rounds after each other neither hang nor lose a job", "[workers]") {
  Workers workers(4);
  std::atomic<int> runs{0};
  for (int round = 0; round < 5000; ++round) workers.run(round % 6, [&](int, int) { ++runs; });
  CHECK(runs == 5000 / 6 * 15 + 0 + 1);
}

TEST_CASE("the failure of the lowest job comes back, and the workers go on", "[workers]") {
  for (int threads : {1, 2, 4}) {
    Workers workers(threads);
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

TEST_CASE("there is at least one thread", "[workers]") {
  CHECK_THROWS_WITH(Workers(0), "[workers] there must be at least one thread, not 0");
}

TEST_CASE("in jobs subnormal numbers are zero, whatever the thread, and outside they are not", "[workers]") {
  volatile float small = 1e-30f, subnormal = 1e-40f;
  Workers workers(2);
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
