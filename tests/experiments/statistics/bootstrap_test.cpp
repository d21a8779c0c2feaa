#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/bootstrap.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/sleep_data.hpp"

#include <vector>

using namespace heed::statistics;

// SciPy 1.17.1: stats.bootstrap((d,), STATISTIC, n_resamples=400000, method="BCa"), iqm the weighted form of
// summary.hpp in NumPy. Resamples differ, so that the ends agree to what 10,000 of them leave.
TEST_CASE("the BCa interval of a mean is SciPy's, about", "[statistics]") {
  const auto sleep = bca_interval(sleep_differences, mean);
  REQUIRE(sleep);
  CHECK(sleep->low == Approx(-2.63).margin(0.05));
  CHECK(sleep->high == Approx(-1.05).margin(0.03));
  const std::vector<double> x{3.1, 0.2, 8.9, 4.4, 5.0, 1.7, 6.3, 2.2, 9.5, 0.7, 3.3, 2.8};
  const auto narrower = bca_interval(x, mean, 0.9);
  REQUIRE(narrower);
  CHECK(narrower->low == Approx(2.80).margin(0.05));
  CHECK(narrower->high == Approx(5.542).margin(0.05));
}

TEST_CASE("the BCa interval of the interquartile mean is SciPy's, about", "[statistics]") {
  const auto interval = bca_interval(sleep_differences, interquartile_mean);
  REQUIRE(interval);
  CHECK(interval->low == Approx(-2.07).margin(0.05));
  CHECK(interval->high == Approx(-0.96).margin(0.03));
}

TEST_CASE("the same values give the same interval, and mirrored ones the mirrored interval", "[statistics]") {
  const auto once = bca_interval(sleep_differences, mean), again = bca_interval(sleep_differences, mean);
  CHECK(once->low == again->low);
  CHECK(once->high == again->high);
  std::vector<double> mirrored;
  for (const double d : sleep_differences) mirrored.push_back(-d);
  const auto other = bca_interval(mirrored, mean);
  CHECK(other->low == Approx(-once->high));
  CHECK(other->high == Approx(-once->low));
}

TEST_CASE("values that are all alike have an interval of no width, and two values have none", "[statistics]") {
  const auto none = bca_interval(std::vector<double>{2, 2, 2, 2}, mean);
  REQUIRE(none);
  CHECK(none->low == 2.0);
  CHECK(none->high == 2.0);
  CHECK_FALSE(bca_interval(std::vector<double>{1, 2}, mean));
  CHECK_THROWS_AS(bca_interval(sleep_differences, mean, 1.0), heed::Failed);
}

TEST_CASE("intervals of several samples' interquartile means are those of each sample by itself, to the bit",
          "[statistics]") {
  std::vector<std::vector<double>> samples{sleep_differences, {1, 2}, {2, 2, 2, 2}};
  heed::RandomSource random({7, heed::Stream::test, 0});
  for (const std::size_t n : {3U, 8U, 8U, 9U, 10U, 11U, 11U, 30U, 30U, 101U}) {
    std::vector<double>& sample = samples.emplace_back();
    // Some values stand there several times, and zeros with either sign.
    for (std::size_t i = 0; i < n; ++i)
      sample.push_back((static_cast<double>(random.below(n)) - 4) / 3 * (i % 2 ? 1 : -1));
  }
  const std::vector<std::span<const double>> some(samples.begin(), samples.end());
  for (const double confidence : {0.95, 0.8}) {
    const auto together = interquartile_intervals(some, confidence, 500);
    REQUIRE(together.size() == some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto alone = bca_interval(some[i], interquartile_mean, confidence, 500);
      CAPTURE(i, some[i].size());
      REQUIRE(together[i].has_value() == alone.has_value());
      if (!alone) continue;
      CHECK(together[i]->low == alone->low);
      CHECK(together[i]->high == alone->high);
    }
  }
  CHECK(interquartile_intervals({}).empty());
  CHECK_THROWS_AS(interquartile_intervals({}, 1.0), heed::Failed);
}
