#include "autograd/error.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"

#include <cmath>
#include <vector>

using namespace heed::statistics;

namespace {
// R's `sleep` data ("Student", 1908): extra hours of sleep under two drugs, the same ten patients.
const std::vector<double> first{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
const std::vector<double> second{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
} // namespace

TEST_CASE("a paired difference has Student's interval", "[statistics]") {
  // R: t.test(first, second, paired = TRUE): mean difference -1.58, 95 % interval [-2.4598858, -0.7001142].
  const auto difference = paired_difference(first, second);
  CHECK(difference.pairs == 10);
  CHECK(difference.mean == Approx(-1.58));
  REQUIRE(difference.interval);
  CHECK(difference.interval->low == Approx(-2.4598858).epsilon(1e-7));
  CHECK(difference.interval->high == Approx(-0.7001142).epsilon(1e-7));
}

TEST_CASE("the confidence of the interval can be chosen", "[statistics]") {
  // Student's quantile t(9, 0.995) = 3.24983554 from mpmath's hypergeometric form of the distribution.
  const auto difference = paired_difference(first, second, 0.99);
  REQUIRE(difference.interval);
  CHECK(difference.interval->high - difference.mean == Approx(3.24983554 * 1.2299955 / std::sqrt(10.0)));
  CHECK_THROWS_AS(paired_difference(first, second, 1.0), heed::Failed);
}

TEST_CASE("two pairs give an interval, wide as it is", "[statistics]") {
  // d = {1, 2}: 1.5 -+ t(1, 0.975) * sqrt(0.5) / sqrt(2), and t(1, 0.975) = tan(0.475 pi) = 12.7062047.
  const auto difference = paired_difference(std::vector<double>{2, 4}, std::vector<double>{1, 2});
  REQUIRE(difference.interval);
  CHECK(difference.interval->low == Approx(1.5 - 12.7062047 / 2));
  CHECK(difference.interval->high == Approx(1.5 + 12.7062047 / 2));
}

TEST_CASE("one pair gives a difference and says nothing of its precision", "[statistics]") {
  const auto difference = paired_difference(std::vector<double>{2}, std::vector<double>{1.5});
  CHECK(difference.mean == 0.5);
  CHECK_FALSE(difference.standard_deviation);
  CHECK_FALSE(difference.interval);
}

TEST_CASE("equal differences give an interval of no width", "[statistics]") {
  const auto difference = paired_difference(std::vector<double>{2, 3, 4}, std::vector<double>{1, 2, 3});
  REQUIRE(difference.interval);
  CHECK(difference.interval->low == 1.0);
  CHECK(difference.interval->high == 1.0);
}

TEST_CASE("a run that ended in NaN gives no interval", "[statistics]") {
  const auto difference = paired_difference(std::vector<double>{2, std::nan("")}, std::vector<double>{1, 2});
  CHECK_FALSE(difference.interval);
}

TEST_CASE("samples that are not paired are an error", "[statistics]") {
  CHECK_THROWS_AS(paired_difference(first, std::vector<double>{1}), heed::Failed);
  CHECK_THROWS_AS(paired_difference({}, {}), heed::Failed);
}
