// Tests of the simulated power of sweeps with few seeds, against known probabilities.
#include "experiments/statistics/power.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <numbers>

using namespace heed::statistics;

namespace {

double phi(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

/// P(the smallest of four values around d is above the largest of four around 0), by the trapezium rule over the
/// smallest.
double four_above_four(double d) {
  double sum = 0;
  constexpr double step = 0.001;
  for (double x = -10; x < 14; x += step) {
    const double density = std::exp(-(x - d) * (x - d) / 2) / std::sqrt(2 * std::numbers::pi);
    sum += 4 * density * std::pow(1 - phi(x - d), 3) * std::pow(phi(x), 4) * step;
  }
  return sum;
}

/// P(both one-sided t tests of two arms of seven runs, at a level of 0.05 / 160, find their difference within the
/// margin), by the trapezium rule over the pooled sum of squares: it has a chi-square distribution with 12 degrees of
/// freedom.
double seven_within(double margin) {
  double sum = 0;
  const double t = 4.586832357, scale = std::sqrt(2.0 / 7); // SciPy 1.17.1: stats.t.isf(0.05 / 160, 12)
  constexpr double step = 0.001;
  for (double x = step; x < 100; x += step) {
    const double density = std::pow(x, 5) * std::exp(-x / 2) / (64 * 120),
                 left = margin / scale - t * std::sqrt(x / 12);
    if (left > 0) sum += density * (phi(left) - phi(-left)) * step;
  }
  return sum;
}

// three standard errors of 2000 sweeps are at most 0.034, and less at these probabilities
constexpr double drawn = 0.03;

} // namespace

TEST_CASE("six pairs are found where all signs agree", "[statistics]") {
  for (const double d : {0.0, 0.5, 1.0, 2.0})
    CHECK(paired_power_of(d, {6}) == Approx(std::pow(phi(d), 6) + std::pow(phi(-d), 6)).margin(drawn));
  CHECK(paired_power_of(9, {5}) == 0); // whatever the effect
  CHECK(paired_power_of(9, {6}) == 1);
}

TEST_CASE("four runs of each arm are found where they lie apart", "[statistics]") {
  for (const double d : {0.0, 1.0, 3.0})
    CHECK(unpaired_power_of(d, {4}) == Approx(four_above_four(d) + four_above_four(-d)).margin(drawn));
  CHECK(unpaired_power_of(3, {4}) == Approx(0.83).margin(drawn));
  CHECK(unpaired_power_of(9, {3}) == 0);
  // 2 of 70 are more than half of 5 %.
  CHECK(unpaired_power_of(9, {4, 2}) == 0);
}

TEST_CASE("five pairs are the same where all lie within the margin", "[statistics]") {
  // 2^-5 of the flips is 0.031, and the next possible p is 0.0625.
  for (const double margin : {0.5, 1.5, 2.5})
    CHECK(paired_sameness_of(margin, {5}) == Approx(std::pow(phi(margin) - phi(-margin), 5)).margin(drawn));
  CHECK(paired_sameness_of(9, {4}) == 0);
  CHECK(unpaired_sameness_of(9, {4}) == 1);
  CHECK(unpaired_sameness_of(9, {3, 2}) == 0);
}

TEST_CASE("seven runs of each arm are the same where two t tests say so", "[statistics]") {
  for (const double margin : {2.0, 2.75, 3.0, 3.5})
    CHECK(unpaired_sameness_of(margin, {7, 160}) == Approx(seven_within(margin)).margin(drawn));
}

TEST_CASE("more seeds, effects and fewer arms find more, across the change to the t test", "[statistics]") {
  for (const auto& power : {paired_power_of, unpaired_power_of, paired_sameness_of, unpaired_sameness_of}) {
    double before = 0;
    for (std::size_t n = 6; n < 16; ++n) {
      const double now = power(1.2, {n});
      CHECK(now > before - 0.04); // the discrete steps of p can make one more seed slightly worse
      before = now;
      CHECK(power(1.5, {n}) >= power(1.0, {n}));
      CHECK(power(1.5, {n}) >= power(1.5, {n, 8}) - drawn);
    }
    CHECK(before > 0.8);
  }
}

TEST_CASE("ten arms take what their step-down test takes", "[statistics]") {
  // 40,000 sweeps in NumPy, with a step-down test by all flips in plain loops: d_z = 3 is found in 0.760 with 6 seeds.
  CHECK(paired_power_of(3, {6, 10}) == Approx(0.760).margin(drawn));
  // Beyond the simulated cases: Bonferroni's t test, and all signs equal where nothing else is possible.
  CHECK(paired_power_of(1, {200, 10}) == Approx(1));
  CHECK(paired_power_of(1.5, {30, 4}) == Approx(paired_power(1.5, 30, 0.0125)));
  CHECK(paired_power_of(9, {6, 200}) <= 1);
}
