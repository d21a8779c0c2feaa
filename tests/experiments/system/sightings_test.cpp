#include "experiments/system/lease.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/system/scratch.hpp"

namespace heed {

using namespace std::chrono_literals;

TEST_CASE("a file is as old as it was at the first look, and older by this process's clock", "[system]") {
  const Scratch scratch;
  const auto begin = std::chrono::steady_clock::now();
  int asked = 0;
  double age = 30;
  const auto unchanged = [&](const std::string& state, std::chrono::steady_clock::duration later,
                             AgeClock clock = AgeClock::files) {
    return std::chrono::duration<double>(time_unchanged(scratch / "claim", state, begin + later, clock,
                                                        [&] {
                                                          ++asked;
                                                          return age;
                                                        }))
        .count();
  };
  CHECK(unchanged("a", 0s) == Approx(30));
  age = 1e6; // the clock jumps
  CHECK(unchanged("a", 5s) == Approx(35));
  CHECK(asked == 1);
  // Renewed, and by a time in the future.
  age = -1e6;
  CHECK(unchanged("b", 0s) == Approx(0).margin(0.001));
  CHECK(unchanged("b", 1s) == Approx(1));
  // Clocks may differ, but what this process has seen itself counts for both.
  CHECK(unchanged("b", 100s, AgeClock::machine) > 90);
  age = 1e30;
  CHECK(unchanged("c", 101s) > 1e6);
}

} // namespace heed
