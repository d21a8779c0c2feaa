#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/seeded.hpp"
#include "tests/experiments/statistics/sleep_data.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace heed;
using namespace heed::statistics;

namespace {

double p_around(std::vector<double> d, double theta) {
  for (double& x : d) x -= theta;
  return step_down_flips(std::vector{arm(std::move(d))}).p.front();
}

/// @param least  the smallest standard deviation that counts
double t_of(const std::vector<double>& d, double least = 0, bool sign = false) {
  const double n = static_cast<double>(d.size());
  double mean = 0, squares = 0;
  for (const double x : d) mean += x / n;
  for (const double x : d) squares += (x - mean) * (x - mean);
  return (sign ? mean : std::abs(mean)) / std::max(std::sqrt(squares / (n - 1)), least) * std::sqrt(n);
}

/// The fraction of a centred arm's variance that a flip has at least, min(1/4, 0.7 (n - 1) / q^2), of four arms at 5 %:
/// q is SciPy's stats.t.ppf(1 - 0.05 / 8, n - 1), 3.8100047 for 6 seeds and 3.3352949 for 8.
double least_variance(std::size_t seeds) { return seeds == 6 ? 0.7 * 5 / (3.8100047 * 3.8100047) : 0.25; }

/// Whether theta is within the interval of `arms[which]` together with the others, in plain loops.
/// @param side  0: of a difference, by |t|; 1 and -1: the end below and above of the equivalence tests
bool within(const std::vector<std::vector<double>>& arms, std::size_t which, double theta, int side = 0) {
  const std::size_t seeds = arms.front().size();
  std::vector<std::vector<double>> about = arms;
  for (std::size_t k = 0; k < arms.size(); ++k) {
    double centre = 0;
    for (const double x : arms[k]) centre += x / static_cast<double>(seeds);
    for (double& x : about[k]) x = k == which && side < 0 ? theta - x : x - (k == which ? theta : centre);
  }
  const double observed = t_of(about[which], 0, side != 0);
  std::size_t reached = 0;
  for (std::size_t flip = 0; flip < std::size_t{1} << seeds; ++flip) {
    double largest = -1e9;
    for (std::size_t k = 0; k < about.size(); ++k) {
      std::vector<double> flipped = about[k];
      for (std::size_t s = 0; s < seeds; ++s)
        if (flip >> s & 1U) flipped[s] = -flipped[s];
      const double least = k == which ? 0 : standard_deviation(arms[k]).value() * std::sqrt(least_variance(seeds));
      largest = std::max(largest, t_of(flipped, least, side != 0 && k == which));
    }
    reached += largest >= observed - 1e-9 * std::abs(observed);
  }
  return static_cast<double>(reached) / static_cast<double>(std::size_t{1} << seeds) > 0.05;
}

/// Normal differences of four arms, whose means are half a standard deviation apart.
std::vector<std::vector<double>> four_arms(std::size_t seeds, RandomSource& random) {
  std::vector<std::vector<double>> out(4);
  for (std::size_t a = 0; a < out.size(); ++a)
    for (std::size_t i = 0; i < seeds; ++i) out[a].push_back(0.5 * static_cast<double>(a) + random.normal());
  return out;
}

std::vector<SeedDifferences> arms_of(const std::vector<std::vector<double>>& numbers) {
  std::vector<SeedDifferences> out;
  for (const std::vector<double>& d : numbers) out.push_back(arm(d));
  return out;
}

} // namespace

TEST_CASE("six seeds give the least and the greatest difference", "[statistics]") {
  const FlipIntervals found = flip_intervals(std::vector{arm({0.3, -0.1, 0.5, 0.2, 0.25, 0.4})});
  CHECK(found.alone[0]->low == Approx(-0.1));
  CHECK(found.alone[0]->high == Approx(0.5));
  CHECK(found.together[0]->low == Approx(-0.1));
  CHECK(found.together[0]->high == Approx(0.5));
}

TEST_CASE("five seeds give no interval of 95 %, and one of 90 %", "[statistics]") {
  const std::vector five{arm({0.3, -0.1, 0.5, 0.2, 0.25})};
  CHECK_FALSE(flip_intervals(five).alone[0]);
  CHECK_FALSE(flip_intervals(five).together[0]);
  CHECK(flip_intervals(five, 0.9).alone[0]->high == Approx(0.5));
}

TEST_CASE("the interval of an arm alone ends where its test by flips begins to reject", "[statistics]") {
  for (const std::vector<double>& d : {sleep_differences, std::vector<double>{0.3, -0.1, 0.5, 0.2, 0.25, 0.4, 0.1, 2.0},
                                       std::vector<double>{1e200, 3e200, -1e200, 2e200, 2.5e200, 1.5e200, 0.5e200}}) {
    const Interval found = flip_intervals(std::vector{arm(d)}).alone[0].value();
    const double step = 1e-9 * (found.high - found.low);
    CHECK(p_around(d, found.low - step) <= 0.05);
    CHECK(p_around(d, found.low + step) > 0.05);
    CHECK(p_around(d, found.high + step) <= 0.05);
    CHECK(p_around(d, found.high - step) > 0.05);
  }
}

TEST_CASE("intervals together are those of plain loops over all flips and arms", "[statistics]") {
  RandomSource random({5, Stream::test, 0});
  for (const std::size_t seeds : {std::size_t{6}, std::size_t{8}}) {
    const auto numbers = four_arms(seeds, random);
    const std::vector<SeedDifferences> arms = arms_of(numbers);
    const FlipIntervals found = flip_intervals(arms);
    for (std::size_t i = 0; i < arms.size(); ++i) {
      REQUIRE(found.together[i]);
      const auto [low, high] = *found.together[i];
      CHECK(low <= found.alone[i]->low);
      CHECK(high >= found.alone[i]->high);
      const double step = 1e-6 * (high - low);
      CHECK_FALSE(within(numbers, i, low - step));
      CHECK(within(numbers, i, low + step));
      CHECK(within(numbers, i, high - step));
      CHECK_FALSE(within(numbers, i, high + step));
    }
  }
}

TEST_CASE("the intervals of the equivalence tests are those of plain loops over all flips and arms", "[statistics]") {
  RandomSource random({7, Stream::test, 0});
  for (const std::size_t seeds : {std::size_t{6}, std::size_t{8}}) {
    const auto numbers = four_arms(seeds, random);
    const std::vector<SeedDifferences> arms = arms_of(numbers);
    const auto found = equivalence_intervals(arms);
    for (std::size_t i = 0; i < arms.size(); ++i) {
      REQUIRE(found[i]);
      const auto [low, high] = *found[i];
      const double step = 1e-6 * (high - low);
      CHECK_FALSE(within(numbers, i, low - step, 1));
      CHECK(within(numbers, i, low + step, 1));
      CHECK(within(numbers, i, high - step, -1));
      CHECK_FALSE(within(numbers, i, high + step, -1));
    }
  }
}

TEST_CASE("a constant difference leaves the intervals of other arms as they are", "[statistics]") {
  const SeedDifferences varied = arm({0.31, -0.12, 0.48, 0.22, 0.27, 0.41, 0.05, 0.33, 0.19});
  const Interval expected = flip_intervals(std::vector{varied}).together[0].value();
  for (const double constant : {0.37, 1.0 / 3, 1e-9, -12345.678}) { // the mean of nine of them is rounded
    const Interval found =
        flip_intervals(std::vector{varied, arm(std::vector<double>(9, constant))}).together[0].value();
    CHECK(found.low == expected.low);
    CHECK(found.high == expected.high);
  }
}

TEST_CASE("differences without a spread are known exactly, with seeds enough", "[statistics]") {
  const FlipIntervals found = flip_intervals(std::vector{arm(std::vector<double>(6, 0.0)),
                                                         arm(std::vector<double>(6, 0.25)), arm({1, 2, 3, 4, 5, 6.5})});
  CHECK(found.together[0]->low == 0.0);
  CHECK(found.together[0]->high == 0.0);
  CHECK(found.together[1]->low == Approx(0.25));
  CHECK(found.together[1]->high == Approx(0.25));
  CHECK(found.together[2]->high == Approx(6.5));
}

TEST_CASE("an arm that lacks seeds has an interval of its own seeds", "[statistics]") {
  const FlipIntervals found = flip_intervals(std::vector{arm({0.3, -0.1, 0.5, 0.2, 0.25, 0.4}),
                                                         arm({0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.6, 0.9}, 3)});
  CHECK(found.alone[0]->low == Approx(-0.1));
  CHECK(found.alone[0]->high == Approx(0.5));
  CHECK(found.alone[1]->low ==
        Approx(flip_intervals(std::vector{arm({0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.6, 0.9})}).alone[0]->low));
}

TEST_CASE("beyond twenty seeds the interval comes from the sampled flips", "[statistics]") {
  RandomSource random({6, Stream::test, 0});
  std::vector<double> d;
  for (int i = 0; i < 40; ++i) d.push_back(1 + random.normal());
  const FlipIntervals found = flip_intervals(std::vector{arm(d)});
  // Approximately normal: mean -+ 2 sd / sqrt(n), within a tenth of its width.
  double mean = 0, squares = 0;
  for (const double x : d) mean += x / 40;
  for (const double x : d) squares += (x - mean) * (x - mean);
  const double reach = 2.02 * std::sqrt(squares / 39 / 40);
  CHECK(found.alone[0]->low == Approx(mean - reach).margin(0.1 * reach));
  CHECK(found.alone[0]->high == Approx(mean + reach).margin(0.1 * reach));
}

TEST_CASE("all arms' true differences lie within their intervals in 95 % of sweeps", "[statistics]") {
  constexpr int sweeps = 2000;
  for (const bool large : {false, true}) { // all arms alike, or some far away
    int missed = 0;
    double width = 0, width_alone = 0;
    for (std::uint64_t which = 0; which < sweeps; ++which) {
      RandomSource random({which, Stream::test, 0});
      std::vector<double> reference;
      for (int i = 0; i < 8; ++i) reference.push_back(random.normal());
      std::vector<SeedDifferences> arms;
      std::vector<double> truth;
      for (int a = 0; a < 6; ++a) {
        truth.push_back(large ? 4.0 * (a % 3 - 1) : 0);
        std::vector<double> d;
        for (const double r : reference) d.push_back(truth.back() + random.normal() - r);
        arms.push_back(arm(std::move(d)));
      }
      const FlipIntervals found = flip_intervals(arms);
      bool all = true;
      for (std::size_t a = 0; a < arms.size(); ++a) {
        all = all && found.together[a]->low <= truth[a] && truth[a] <= found.together[a]->high;
        width += found.together[a]->high - found.together[a]->low;
        width_alone += found.alone[a]->high - found.alone[a]->low;
      }
      missed += !all;
    }
    INFO((large ? "large effects: " : "no effects: ")
         << missed << " of " << sweeps << " missed, " << width / width_alone << " times as wide as alone");
    CHECK(missed <= sweeps * 0.05 + 3 * std::sqrt(sweeps * 0.05 * 0.95));
    CHECK(missed >= sweeps * 0.01);
  }
}

TEST_CASE("arms with two outcomes leave the intervals of the others at most 1.5 times as wide", "[statistics]") {
  const SeedDifferences clear = arm({-0.499, -0.469, -0.48, -0.49, -0.476, -0.485});
  const SeedDifferences half = arm({0, 4, 0, 4, 4, 0}), other_half = arm({4, 4, 0, 0, 4, 0});
  const auto width = [](const std::optional<Interval>& of) { return of.value().high - of.value().low; };
  const double alone = width(flip_intervals(std::vector{clear}).together[0]);
  CHECK(alone == Approx(0.03)); // from the smallest to the largest
  for (const auto& arms : {std::vector{clear, half}, std::vector{clear, half, other_half}}) {
    const FlipIntervals all = flip_intervals(arms);
    CHECK(width(all.together[0]) <= 1.5 * alone);
    CHECK(all.together[0]->high < 0);
    for (std::size_t i = 1; i < arms.size(); ++i) {
      REQUIRE(all.together[i]);
      CHECK(all.together[i]->low > -20); // their own standard error is 0.9
      CHECK(all.together[i]->high < 20);
    }
  }
}

TEST_CASE("intervals by flips need finite differences and a confidence", "[statistics]") {
  CHECK_THROWS_AS(flip_intervals(std::vector{arm({})}), Failed);
  CHECK_THROWS_AS(flip_intervals(std::vector{arm({1, std::nan("")})}), Failed);
  CHECK_THROWS_AS(flip_intervals(std::vector{arm({1, 2})}, 1), Failed);
  CHECK(flip_intervals({}).together.empty());
}

TEST_CASE("each of very many arms has the interval that it has by itself", "[statistics]") {
  RandomSource random({13, Stream::test, 0});
  std::vector<SeedDifferences> arms;
  for (int i = 0; i < 19; ++i) {
    std::vector<double> values;
    for (int s = 0; s < 7; ++s) values.push_back(static_cast<double>(random.below(1000)) / 250 - 1.5);
    arms.push_back(arm(std::move(values)));
  }
  const FlipIntervals all = flip_intervals(arms);
  REQUIRE(all.alone.size() == arms.size());
  REQUIRE(all.together.size() == arms.size());
  for (std::size_t i = 0; i < arms.size(); ++i) {
    CAPTURE(i);
    const FlipIntervals one = flip_intervals(std::vector{arms[i]});
    REQUIRE(all.alone[i].has_value() == one.alone[0].has_value());
    if (!one.alone[0]) continue;
    CHECK(all.alone[i]->low == one.alone[0]->low);
    CHECK(all.alone[i]->high == one.alone[0]->high);
    REQUIRE(all.together[i]);
    CHECK(all.together[i]->low <= all.alone[i]->low);
    CHECK(all.together[i]->high >= all.alone[i]->high);
  }
}
