// Tests of polling: which function a thread's long functions call.
#include "experiments/system/polling.hpp"
#include "tests/catch.hpp"

#include <thread>

using namespace heed;

TEST_CASE("the innermost scope of the thread counts", "[system]") {
  CHECK(PollScope::current() == nullptr);
  int outer_calls = 0, inner_calls = 0;
  {
    const PollScope outer([&] { ++outer_calls; });
    (*PollScope::current())();
    {
      const PollScope inner([&] { ++inner_calls; });
      (*PollScope::current())();
      bool in_other_thread = true;
      std::thread([&] { in_other_thread = PollScope::current() != nullptr; }).join();
      CHECK_FALSE(in_other_thread);
    }
    (*PollScope::current())();
  }
  CHECK(PollScope::current() == nullptr);
  CHECK(outer_calls == 2);
  CHECK(inner_calls == 1);
}
