#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/bootstrap.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/sleep_data.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace heed::statistics;

// SciPy 1.17.1: stats.bootstrap((d,), STATISTIC, n_resamples=400000, method="BCa"); iqm is the weighted form of
// summary.hpp in NumPy. The resamples differ, so the ends agree only within the error of 10,000 resamples.
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

TEST_CASE("the BCa interval is its formula, over the statistics of what was drawn", "[statistics]") {
  // Efron 1987 (Better bootstrap confidence intervals), with NumPy's quantiles. There are so few resamples that the
  // ends lie between the outermost ones.
  std::vector<double> resampled, left_out;
  const std::vector<double> x{3.1, 0.2, 8.9, 4.4, 5.0, 1.7, 6.3};
  const auto noted = [&](std::span<const double> values) {
    (values.size() == x.size() ? resampled : left_out).push_back(mean(values));
    return mean(values);
  };
  const auto interval = bca_interval(x, noted, 0.9, 15);
  REQUIRE(interval);
  const double observed = mean(x);
  REQUIRE(resampled.front() == observed);
  resampled.erase(resampled.begin());
  REQUIRE(resampled.size() == 15);
  REQUIRE(left_out.size() == x.size());
  const auto below = [](double z) { return std::erfc(-z / std::sqrt(2)) / 2; };
  const auto quantile_of_normal = [&](double p) {
    double low = -10, high = 10;
    for (int i = 0; i < 100; ++i) (below((low + high) / 2) < p ? low : high) = (low + high) / 2;
    return low;
  };
  double share = 0, squares = 0, cubes = 0;
  for (const double s : resampled) share += (s < observed ? 1 : s == observed ? 0.5 : 0) / 15;
  for (const double s : left_out) {
    squares += std::pow(mean(left_out) - s, 2);
    cubes += std::pow(mean(left_out) - s, 3);
  }
  const double bias = quantile_of_normal(share), a = cubes / (6 * std::pow(squares, 1.5));
  std::sort(resampled.begin(), resampled.end());
  const auto end = [&](double p) {
    const double z = bias + quantile_of_normal(p), at = 14 * below(bias + z / (1 - a * z));
    const auto before = static_cast<std::size_t>(std::floor(at));
    REQUIRE(before + 1 < resampled.size());
    return resampled[before] + (at - std::floor(at)) * (resampled[before + 1] - resampled[before]);
  };
  CHECK(interval->low == Approx(end(0.05)));
  CHECK(interval->high == Approx(end(0.95)));
}

TEST_CASE("an end of the BCa interval beyond all that was drawn is the outermost", "[statistics]") {
  // One outlier of a hundred values: the acceleration is nearly 1/6, so that the upper end's probability rounds to 1.
  std::vector<double> values(100, 0), drawn;
  values[7] = 1;
  const auto noted = [&](std::span<const double> some) {
    if (some.size() == values.size()) drawn.push_back(mean(some));
    return mean(some);
  };
  const auto interval = bca_interval(values, noted, 0.9999, 50);
  REQUIRE(interval);
  CHECK(interval->high == *std::ranges::max_element(drawn));
  CHECK(interval->high > mean(values));
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
    // Some values occur several times, and zeros have both signs.
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
  // The defaults are 95 % and 10,000 resamples.
  const auto stated = interquartile_intervals(some, 0.95, 10'000), unstated = interquartile_intervals(some);
  const auto of_mean = bca_interval(some[0], mean, 0.95, 10'000), of_mean_unstated = bca_interval(some[0], mean);
  CHECK(unstated[0]->low == stated[0]->low);
  CHECK(unstated[0]->high == stated[0]->high);
  CHECK(of_mean_unstated->low == of_mean->low);
  CHECK(of_mean_unstated->high == of_mean->high);
  CHECK(interquartile_intervals({}).empty());
  CHECK_THROWS_AS(interquartile_intervals({}, 1.0), heed::Failed);
}
