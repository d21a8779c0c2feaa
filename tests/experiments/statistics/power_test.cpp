#include "autograd/error.hpp"
#include "experiments/statistics/power.hpp"
#include "tests/catch.hpp"

using namespace heed::statistics;

TEST_CASE("n pairs can't go below 2^(1 - n)", "[statistics]") {
  CHECK(smallest_p(5) == 0.0625);
  CHECK(smallest_p(6) == 0.03125);
  CHECK(smallest_p(1) == 1.0);
  CHECK(smallest_p(0) == 1.0);
  CHECK(seeds_for_level() == 6);
  CHECK(seeds_for_level(0.01) == 8);
}

TEST_CASE("the power of the paired t test is SciPy's", "[statistics]") {
  // SciPy 1.17.1: nct.sf(t, n - 1, d sqrt(n)) + nct.cdf(-t, n - 1, d sqrt(n)), t = stats.t.ppf(0.975, n - 1).
  CHECK(paired_power(0.5, 10) == Approx(0.29317560651407687).epsilon(1e-8));
  CHECK(paired_power(-0.5, 34) == Approx(0.8077775012792738).epsilon(1e-8));
  CHECK(paired_power(2, 5) == Approx(0.9088848681009404).epsilon(1e-8));
  CHECK(paired_power(100, 6) == Approx(1));
}

TEST_CASE("the seeds that an effect takes are the fewest with that power", "[statistics]") {
  // The same in a loop over n.
  CHECK(seeds_for_effect(0.2) == 199);
  CHECK(seeds_for_effect(0.5) == 34);
  CHECK(seeds_for_effect(-0.8) == 15);
  CHECK(seeds_for_effect(1) == 10);
  CHECK(seeds_for_effect(1.2) == 8);
  // 337 and so on: the level divided by ten.
  CHECK(seeds_for_effect(0.2, 0.8, 0.05, 10) == 337);
  CHECK(seeds_for_effect(1.5, 0.8, 0.05, 10) == 10);
}

TEST_CASE("no effect takes fewer seeds than flips need, and six only where one sign is likely", "[statistics]") {
  CHECK(seeds_for_effect(3) == 6);
  CHECK(seeds_for_effect(2) == 6);   // all six of one sign: Phi(2)^6 = 0.871
  CHECK(seeds_for_effect(1.5) == 7); // the t test would take 6, but Phi(1.5)^6 = 0.660
  CHECK(seeds_for_effect(1.7) == 7); // likewise 5, but Phi(1.7)^6 = 0.760
  CHECK(seeds_for_effect(50) == 6);
  // Of ten arms, step-down tests simulated in NumPy find d_z = 3 in 0.78 with 6 seeds and 0.98 with 7, d_z = 4 in 0.92
  // with 6; of three arms, d_z = 2 in 0.73 with 6 seeds and 0.92 with 7.
  CHECK(seeds_for_effect(3, 0.8, 0.05, 10) == 7);
  CHECK(seeds_for_effect(4, 0.8, 0.05, 10) == 6);
  CHECK(seeds_for_effect(2, 0.8, 0.05, 3) == 7);
}

TEST_CASE("there is no number of seeds for no effect, nor for one beyond all reach", "[statistics]") {
  CHECK_THROWS_AS(seeds_for_effect(0), heed::Failed);
  CHECK_THROWS_AS(seeds_for_effect(1e-6), heed::Failed);
  CHECK_THROWS_AS(seeds_for_effect(1, 1.0), heed::Failed);
}
