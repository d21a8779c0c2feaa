#include "autograd/fork_safe.hpp"
#include "tests/catch.hpp"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <vector>

using heed::ForkSafe;

namespace {

// What `work` returns in the child of a fork; -1 if the child has not ended after 20 s.
template <class Work> int in_a_child(const Work& work) {
  const ::pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::_exit(work());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A thread that uses the value until it is told to stop.
class User {
public:
  explicit User(ForkSafe<std::vector<int>>& value)
      : thread_([&] {
          const auto held = value.lock();
          held->push_back(1);
          std::unique_lock lock(mutex_);
          uses_ = true;
          changed_.notify_all();
          changed_.wait(lock, [&] { return stops_; });
        }) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return uses_; });
  }
  ~User() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool uses_ = false, stops_ = false;
  std::thread thread_; // last, since it uses the others
};

} // namespace

TEST_CASE("one thread at a time uses a value") {
  ForkSafe<int> sum;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) ++*sum.lock();
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(*sum.lock() == 80'000);
}

TEST_CASE("a fork while another thread uses the value: it starts anew in the child, and stays in the parent") {
  ForkSafe<std::vector<int>> value;
  value.lock()->push_back(0);
  {
    const User user(value);
    CHECK(in_a_child([&] { return static_cast<int>(value.lock()->size()); }) == 0);
    CHECK(in_a_child([&] {
            value.lock()->assign(5, 0);
            return static_cast<int>(value.lock()->size()); // free again, and kept
          }) == 5);
    CHECK(in_a_child([&] { // a grandchild
            return in_a_child([&] { return static_cast<int>(value.lock()->size()); });
          }) == 0);
  }
  CHECK(value.lock()->size() == 2);
}

TEST_CASE("a fork while nobody uses the value keeps it") {
  ForkSafe<std::vector<int>> value;
  value.lock()->assign(3, 0);
  CHECK(in_a_child([&] { return static_cast<int>(value.lock()->size()); }) == 3);
}
