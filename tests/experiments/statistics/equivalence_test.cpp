#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/seeded.hpp"
#include "tests/experiments/statistics/sleep_data.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace heed;
using namespace heed::statistics;

TEST_CASE("two one-sided tests give statsmodels' p", "[statistics]") {
  // statsmodels 0.15.0: DescrStatsW(d).ttost_mean(-margin, margin)[0].
  CHECK(equivalence_p(sleep_differences, 3).value() == Approx(0.002655570292658671).epsilon(1e-10));
  CHECK(equivalence_p(sleep_differences, 2.5).value() == Approx(0.021116860246500745).epsilon(1e-10));
  CHECK(equivalence_p(sleep_differences, 2).value() == Approx(0.1541572356690974).epsilon(1e-10));
  CHECK(equivalence_p(sleep_differences, 1).value() == Approx(0.9149441145512887).epsilon(1e-10));
}

TEST_CASE("equivalence does not ask for the difference's sign", "[statistics]") {
  std::vector<double> mirrored;
  for (const double d : sleep_differences) mirrored.push_back(-d);
  CHECK(equivalence_p(mirrored, 2.5).value() == Approx(equivalence_p(sleep_differences, 2.5).value()));
}

TEST_CASE("differences without a spread are within the margin or not", "[statistics]") {
  CHECK(equivalence_p(std::vector<double>{0.5, 0.5, 0.5}, 1).value() == 0.125);
  CHECK(equivalence_p(std::vector<double>{0.1 + 0.2, 0.3, 0.3, 0.3}, 1).value() == 0.0625);
  CHECK(equivalence_p(std::vector<double>{0.5, 0.5, 0.5}, 0.5).value() == 1.0);
  CHECK(equivalence_p(std::vector<double>{-2, -2, -2}, 1).value() == 1.0);
}

TEST_CASE("one pair says nothing of equivalence, and a margin is above zero", "[statistics]") {
  CHECK_FALSE(equivalence_p(std::vector<double>{0.1}, 1));
  CHECK_THROWS_AS(equivalence_p(sleep_differences, 0), heed::Failed);
}

namespace {

/// P(T >= t) for T, the sum over flips, in plain loops over one arm's flips.
double one_sided(const std::vector<double>& values) {
  double observed = 0, reached = 0;
  for (const double x : values) observed += x;
  const std::size_t flips = std::size_t{1} << values.size();
  for (std::size_t flip = 0; flip < flips; ++flip) {
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i) sum += flip >> i & 1U ? -values[i] : values[i];
    if (sum >= observed - 1e-12) ++reached;
  }
  return reached / static_cast<double>(flips);
}

} // namespace

TEST_CASE("one arm's flips of both sides are those in plain loops, where the sides can't be taken for each other",
          "[statistics]") {
  // All values are far on one side: for the other side, every flip except the identity is less clear.
  const std::vector<double> d{0.9, 0.4, 1.2, 0.7, 1.1, 0.2, 0.8};
  std::vector<double> above;
  for (const double x : d) above.push_back(1.0 - x);
  CHECK(equivalence_by_flips(std::vector{arm(d)}, 1.0).front() == Approx(one_sided(above)));
}

TEST_CASE("arms that are equal to the reference bit for bit are the same, however many there are", "[statistics]") {
  for (const std::size_t arms : {1, 3, 20}) {
    std::vector<SeedDifferences> all(arms, arm(std::vector<double>(6, 0.0)));
    all.push_back(arm({0.02, -0.01, 0.03, 0.0, -0.02, 0.01}));
    all.push_back(arm({0.5, 0.4, 0.6, 0.5, 0.4, 0.6}));
    const std::vector<double> p = equivalence_by_flips(all, 0.1);
    for (std::size_t i = 0; i <= arms; ++i) CHECK(p[i] == 1.0 / 64);
    CHECK(p[arms + 1] == 1.0);
  }
}

TEST_CASE("differences within the margin are enough with five seeds, and not with four", "[statistics]") {
  CHECK(equivalence_by_flips(std::vector{arm({0.05, -0.02, 0.0, 0.01, 0.03})}, 0.1).front() == 1.0 / 32);
  CHECK(equivalence_by_flips(std::vector{arm({0.05, -0.02, 0.0, 0.01})}, 0.1).front() == 1.0 / 16);
}

TEST_CASE("arms just beyond the margin are called the same no more often than 5 %", "[statistics]") {
  constexpr int sweeps = 2000;
  int wrong = 0;
  for (int which = 0; which < sweeps; ++which) {
    RandomSource random({static_cast<std::uint64_t>(which), Stream::test, 0});
    std::vector<SeedDifferences> arms;
    for (const double centre : {0.1, -0.1, 0.1, 0.0}) { // the last one is the same
      std::vector<double> d;
      for (int seed = 0; seed < 8; ++seed) d.push_back(centre + 0.05 * random.normal());
      arms.push_back(arm(std::move(d)));
    }
    const std::vector<double> p = equivalence_by_flips(arms, 0.1);
    wrong += std::min({p[0], p[1], p[2]}) <= 0.05;
  }
  CHECK(wrong <= sweeps * 0.05 + 3 * std::sqrt(sweeps * 0.05 * 0.95));
}
