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
  CHECK(seeds_for_effect(1.5) == 7); // the t test would need 6, but Phi(1.5)^6 = 0.660
  CHECK(seeds_for_effect(1.7) == 7); // likewise 5, but Phi(1.7)^6 = 0.760
  CHECK(seeds_for_effect(50) == 6);
  // Step-down tests simulated in NumPy: with ten arms, they find d_z = 3 with power 0.78 for 6 seeds and 0.98 for 7,
  // and d_z = 4 with 0.92 for 6; with three arms, they find d_z = 2 with 0.73 for 6 seeds and 0.92 for 7.
  CHECK(seeds_for_effect(3, 0.8, 0.05, 10) == 7);
  CHECK(seeds_for_effect(4, 0.8, 0.05, 10) == 6);
  CHECK(seeds_for_effect(2, 0.8, 0.05, 3) == 7);
}

TEST_CASE("there is no number of seeds for no effect, nor for one beyond all reach", "[statistics]") {
  CHECK_THROWS_AS(seeds_for_effect(0), heed::Failed);
  CHECK_THROWS_AS(seeds_for_effect(1e-6), heed::Failed);
  CHECK_THROWS_AS(seeds_for_effect(1, 1.0), heed::Failed);
}

TEST_CASE("the power of the unpaired t test is SciPy's, and Cohen's", "[statistics]") {
  // nct.sf and nct.cdf with n + m - 2 degrees of freedom and d sqrt(n m / (n + m)); Cohen 1988, table 2.4.1: 64 of each
  // for d = 0.5.
  CHECK(unpaired_power(0.5, 64, 64) == Approx(0.8014595579222541).epsilon(1e-8));
  CHECK(unpaired_power(-1, 10, 12) == Approx(0.6035474432538379).epsilon(1e-8));
  CHECK(unpaired_power(2, 8, 8, 0.005) == Approx(0.7340984964470691).epsilon(1e-8));
  CHECK(unpaired_power(2, 1, 1) == 0);
  CHECK(unpaired_seeds_for_effect(0.5) == 64);
  CHECK(unpaired_seeds_for_effect(-1) == 17);
}

TEST_CASE("the chance that runs lie apart is the integral over the least and the greatest", "[statistics]") {
  // scipy.integrate.quad over the other arm's smallest and largest value.
  CHECK(separation_chance(3, 4, 4) == Approx(0.8303737280426997).epsilon(1e-9));
  CHECK(separation_chance(1, 2, 5) == Approx(0.25358324761808027).epsilon(1e-9));
  CHECK(separation_chance(0, 4, 4) == Approx(2.0 / 70)); // all orders are equally likely
  // With four runs of each arm, only complete separation reaches 5 %: its probability is 0.8 at 2.881.
  CHECK(unpaired_seeds_for_effect(2.9) == 4);
  CHECK(unpaired_seeds_for_effect(2.8) == 5);
}

TEST_CASE("the smallest effect is found by the seeds that it takes", "[statistics]") {
  // scipy.optimize.brentq: Phi(d)^6 + Phi(-d)^6 = 0.8; the power of the t test of 10 pairs, also at 1 %.
  CHECK(*smallest_effect(6) == Approx(1.7927367).epsilon(1e-5));
  CHECK(*smallest_effect(10) == Approx(0.9960014).epsilon(1e-5));
  CHECK(*smallest_effect(10, 0.8, 0.05, 5) == Approx(1.3320321).epsilon(1e-5));
  CHECK_FALSE(smallest_effect(5));
  for (const std::size_t n : {6, 7, 12, 40}) {
    CHECK(seeds_for_effect(*smallest_effect(n, 0.8, 0.05, 3) * 1.001, 0.8, 0.05, 3) <= n);
    CHECK(seeds_for_effect(*smallest_effect(n, 0.8, 0.05, 3) * 0.999, 0.8, 0.05, 3) > n);
  }
  CHECK(*smallest_effect_unpaired(4, 4) == Approx(2.8806675).epsilon(1e-5));
  CHECK(*smallest_effect_unpaired(8, 9) == Approx(1.4583489).epsilon(1e-5)); // Welch's, by SciPy's nct
  CHECK(*smallest_effect_unpaired(4, 8) == Approx(2.0549927).epsilon(1e-5));
  CHECK_FALSE(smallest_effect_unpaired(3, 4, 0.8, 0.05, 2)); // 1 of 35 at best, twice that of two arms
}
