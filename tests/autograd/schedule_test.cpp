// Compares learning rate schedules with those of PyTorch, nanoGPT and the Transformer (tests/fixtures/schedules.json).
#include "autograd/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/fixtures/fixture.hpp"

using namespace heed;

TEST_CASE("schedules with warm-up are PyTorch's, nanoGPT's and the Transformer's", "[schedule]") {
  const Fixture fixture("schedules", "all");
  const auto steps = static_cast<std::int64_t>(fixture.number("steps"));
  const auto warmup = static_cast<std::int64_t>(fixture.number("warmup"));
  const double final_factor = fixture.number("final");
  for (std::int64_t step = 0; step < steps; ++step) {
    INFO("step " << step);
    const auto expected = [&](const char* name) {
      return Approx(fixture[name].values[static_cast<std::size_t>(step)]).epsilon(1e-10);
    };
    const double warm = warmup_factor(step, warmup);
    // The fixture's schedule ends one step after its last entry.
    CHECK(warm * linear_factor(step, steps + 1, warmup, final_factor) == expected("linear"));
    CHECK(warm * cosine_factor(step, steps + 1, warmup, final_factor) == expected("cosine"));
    CHECK(warm * cosine_factor(step, steps + 1, warmup, final_factor) == expected("nanogpt"));
    CHECK(warm * noam_factor(step, warmup) == expected("noam"));
  }
}

TEST_CASE("warm-up counts from 1 / (warmup + 1), and no warm-up is none", "[schedule]") {
  CHECK(warmup_factor(0, 100) == 1 / 101.0);
  CHECK(warmup_factor(99, 100) == 100 / 101.0);
  CHECK(warmup_factor(100, 100) == 1);
  CHECK(warmup_factor(0, 0) == 1);
}

TEST_CASE("decays stay at 1 during the warm-up, end at the last step and stay there beyond it", "[schedule]") {
  for (auto decay : {linear_factor, cosine_factor}) {
    CHECK(decay(0, 100, 10, 0.1) == 1);
    CHECK(decay(10, 100, 10, 0.1) == 1);
    CHECK(decay(55, 101, 10, 0.1) == Approx(0.55)); // halfway from step 10 to step 100
    CHECK(decay(98, 100, 10, 0.1) > 0.1);
    CHECK(decay(99, 100, 10, 0.1) == Approx(0.1)); // the last of 100 steps
    CHECK(decay(99, 100, 10, 0) == Approx(0).margin(1e-15));
    CHECK(decay(100, 100, 10, 0.1) == Approx(0.1));
    CHECK(decay(1000, 100, 10, 0.1) == Approx(0.1));
    // A run of one step, and a warm-up that is as long as the run or longer.
    CHECK(decay(0, 1, 0, 0.1) == 1);
    CHECK(decay(99, 100, 99, 0.1) == 1);
    CHECK(decay(99, 100, 100, 0.1) == 1);
    CHECK(decay(99, 100, 200, 0.1) == 1);
  }
  CHECK(noam_factor(3, 10) == 1);
  CHECK(noam_factor(0, 0) == 1);
  CHECK(noam_factor(3, 0) == 0.5);
}
