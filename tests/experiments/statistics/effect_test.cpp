#include "autograd/error.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/sleep_data.hpp"

#include <vector>

using namespace heed::statistics;

TEST_CASE("Hedges' factor in its exact form", "[statistics]") {
  // SciPy 1.17.1: exp(gammaln(m / 2) - gammaln((m - 1) / 2)) / sqrt(m / 2).
  CHECK(hedges_factor(2) == Approx(0.5641895835477564).epsilon(1e-12));
  CHECK(hedges_factor(5) == Approx(0.8407486824596893).epsilon(1e-12));
  CHECK(hedges_factor(9) == Approx(0.9138748917925524).epsilon(1e-12));
  CHECK(hedges_factor(50) == Approx(0.9849119422955631).epsilon(1e-12));
  CHECK(hedges_factor(2000) == Approx(0.9996249453027791).epsilon(1e-10));
  CHECK_THROWS_AS(hedges_factor(1), heed::Failed);
}

TEST_CASE("the effect size is the mean in standard deviations of the differences, corrected", "[statistics]") {
  // NumPy: d.mean() / d.std(ddof=1) times the factor for 9 degrees.
  CHECK(effect_size(sleep_differences).value() == Approx(-1.173924903514205).epsilon(1e-12));
  CHECK_FALSE(effect_size(std::vector<double>{1, 2}));
  CHECK_FALSE(effect_size(std::vector<double>{0.5, 0.5, 0.5}));
  CHECK_FALSE(effect_size(std::vector<double>{1.3 - 1.0, 1.1 - 0.8, 0.3})); // equal except for rounding
}

TEST_CASE("the probability of improvement has Clopper and Pearson's interval", "[statistics]") {
  // SciPy 1.17.1: stats.binomtest(k, n).proportion_ci(method="exact").
  const Estimate five = probability_of_improvement(std::vector<double>{1, 2, -3, 4, 5, 6}, true);
  CHECK(five.value == Approx(5.0 / 6));
  CHECK(five.interval->low == Approx(0.3587654210025136));
  CHECK(five.interval->high == Approx(0.9957892554855104));
  const Estimate all = probability_of_improvement(std::vector<double>{1, 2, 3, 4, 5, 6}, true);
  CHECK(all.interval->low == Approx(0.5407418735600995));
  CHECK(all.interval->high == 1.0);
}

TEST_CASE("lower is better turns the probability of improvement round", "[statistics]") {
  const Estimate none = probability_of_improvement(std::vector<double>{1, 2, 3, 4, 5, 6}, false);
  CHECK(none.value == 0.0);
  CHECK(none.interval->low == 0.0);
  CHECK(none.interval->high == Approx(0.45925812643990044));
}

TEST_CASE("a tie counts half", "[statistics]") {
  // sleep: nine negative differences and a zero.
  CHECK(probability_of_improvement(sleep_differences, false).value == Approx(0.95));
  CHECK(probability_of_improvement(sleep_differences, true).value == Approx(0.05));
  // Two ties count as one pair that is better and one pair that is not.
  const Estimate ties = probability_of_improvement(std::vector<double>{1, 1, 1, 1, 1, 1, 0, 0, -1, -1}, true);
  CHECK(ties.interval->low == Approx(0.3475471499399921)); // binomtest(7, 10)
  CHECK(ties.interval->high == Approx(0.9332604888222655));
}
