#include "autograd/error.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace heed::statistics;

TEST_CASE("the mean and the sample standard deviation", "[statistics]") {
  // The differences of R's `sleep` data, see paired_test.cpp: mean(d), sd(d).
  const std::vector<double> d{-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4};
  CHECK(mean(d) == Approx(-1.58));
  CHECK(standard_deviation(d).value() == Approx(1.2299955));
}

TEST_CASE("one value has a mean but no standard deviation, and no value has neither", "[statistics]") {
  const std::vector<double> one{2.5}, none;
  CHECK(mean(one) == 2.5);
  CHECK_FALSE(standard_deviation(one));
  CHECK_FALSE(standard_deviation(none));
  CHECK_THROWS_AS(mean(none), heed::Failed);
  CHECK_THROWS_AS(interquartile_mean(none), heed::Failed);
}

TEST_CASE("the interquartile mean leaves out a quarter of the weight at each end", "[statistics]") {
  // n is divisible by 4: whole values are cut (NumPy: sort(x)[2:6].mean()).
  CHECK(interquartile_mean(std::vector<double>{3.1, 0.2, 8.9, 4.4, 5.0, 1.7, 6.3, 2.2}) == Approx(3.675));
  // n = 6: 1.5 values are cut at each end, so half of the second value and half of the fifth remain (by hand): (0.5 * 2
  // + 3 + 4 + 0.5 * 10) / 3.
  CHECK(interquartile_mean(std::vector<double>{10, 1, 4, 3, 2, 1000}) == Approx(13.0 / 3));
  CHECK(interquartile_mean(std::vector<double>{7}) == Approx(7));
  CHECK(interquartile_mean(std::vector<double>{1, 2}) == Approx(1.5));
}
