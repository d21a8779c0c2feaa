#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/permutations.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <vector>

using namespace heed;
using namespace heed::statistics;

namespace {

const std::vector<double> a{1.3, 1.1, 1.7, 1.2, 1.5}, b{0.9, 1.0, 1.25, 0.8};

std::vector<double> shifted(std::vector<double> values, double by) {
  for (double& x : values) x += by;
  return values;
}

} // namespace

TEST_CASE("an unpaired test has the permutation test's p", "[statistics]") {
  // SciPy 1.17.1: permutation_test((a, b), difference of means, permutation_type="independent", n_resamples=inf).
  const PermutationTest test = permutation_test(a, b);
  CHECK(test.p == Approx(0.047619047619047616));
  CHECK(test.p_above == Approx(0.023809523809523808));
  CHECK(test.permutations == 126);
  CHECK(test.exact);
}

TEST_CASE("arms have the larger p of Welch's t and of the permutations", "[statistics]") {
  // SciPy 1.17.1: ttest_ind(equal_var=False), by itself and, for different sizes, as the statistic of
  // permutation_test(n_resamples=inf), in place of the difference of means.
  struct Case {
    std::vector<double> a, b;
    double p, p_above, permutations;
  };
  for (const Case& of : {Case{{1.3, 1.1, 1.7, 1.2, 1.5},
                              {0.9, 1.0, 1.25, 0.8},
                              0.047619047619047616,
                              0.023809523809523808,
                              126}, // both p of the permutations
                         Case{{1.3, 1.1, 1.7},
                              {0.9, 1.0, 1.25, 0.8, 1.3, 1.4},
                              0.2832703807707497,
                              0.14285714285714285,
                              84}, // Welch's; the permutations'
                         Case{{3.1, 0.2, 1.9, 5.2},
                              {0.9, 1.0, 1.25, 0.8, 1.3, 1.1, 0.7, 1.2},
                              0.23246020233328088,
                              0.11623010116664044,
                              495}, // both p of Welch's
                         Case{{1.3, 1.1, 1.7, 1.2},
                              {0.9, 1.0, 1.25, 0.8},
                              0.08822270760986833,
                              0.044111353804934165,
                              70},                                                    // equal sizes: both of Welch's
                         Case{{5, 6, 7, 8}, {1, 2, 3, 4}, 2.0 / 70, 1.0 / 70, 70}}) { // both of the permutations
    const PermutationTest test = permutation_test(of.a, of.b);
    CHECK(test.p == Approx(of.p));
    CHECK(test.p_above == Approx(of.p_above));
    CHECK(static_cast<double>(test.permutations) == of.permutations);
    CHECK(permutation_test(of.b, of.a).p == Approx(of.p));
    CHECK(permutation_test(shifted(of.a, 1e6), shifted(of.b, 1e6)).p == Approx(of.p));
    const Interval sides = test.sides.value();
    const double step = 1e-7 * (sides.high - sides.low);
    CHECK(permutation_test(shifted(of.a, -sides.low + step), of.b).p_above <= 0.05);
    CHECK(permutation_test(shifted(of.a, -sides.low - step), of.b).p_above > 0.05);
  }
}

TEST_CASE("arms of different sizes that don't vary, and of one run", "[statistics]") {
  const std::vector<double> four(4, 0.5), eight(8, 0.25);
  CHECK(permutation_test(four, eight).p == Approx(1.0 / 495));
  CHECK(permutation_test(four, eight).interval->low == Approx(0.25));
  CHECK(permutation_test(four, eight).interval->high == Approx(0.25));
  CHECK(permutation_test(four, std::vector<double>(8, 0.5)).p == 1.0);
  for (const double x : {0.1, 0.7, 1.0 / 3, 1e-9}) // their means are rounded
    CHECK(permutation_test(std::vector<double>(3, x), std::vector<double>(4, x)).p == 1.0);
  CHECK(permutation_test(std::vector<double>{3}, std::vector<double>{1, 2, 1.5}).p == Approx(0.25));
}

TEST_CASE("with different spreads, a difference that isn't there is found in 4 to 6 %", "[statistics]") {
  for (const auto& [n, m, spread] : {std::tuple{4, 8, 4.0}, {5, 5, 4.0}, {5, 5, 10.0}}) {
    int found = 0;
    for (std::uint64_t which = 0; which < 4000; ++which) {
      RandomSource random({which, Stream::test, 1});
      std::vector<double> x, y;
      for (int i = 0; i < n; ++i) x.push_back(spread * random.normal());
      for (int i = 0; i < m; ++i) y.push_back(random.normal());
      found += permutation_test(x, y).p <= 0.05;
    }
    // permutations of the difference alone: 0.19, 0.07, 0.10
    CHECK(found / 4000.0 == Approx(0.052).margin(0.018));
  }
}

TEST_CASE("four runs in each arm can reach 5 %, which four pairs can't", "[statistics]") {
  const PermutationTest test = permutation_test(std::vector<double>{5, 6, 7, 8}, std::vector<double>{1, 2, 3, 4});
  CHECK(test.p == Approx(2.0 / 70));
  CHECK(smallest_unpaired_p(4, 4) == Approx(2.0 / 70));
  CHECK(smallest_unpaired_p(3, 3) == Approx(0.1));
  CHECK(smallest_unpaired_p(4, 3) == Approx(1.0 / 35));
  CHECK(smallest_unpaired_p(0, 3) == 1.0);
}

TEST_CASE("the interval ends where the permutation test begins to reject", "[statistics]") {
  RandomSource random({4, Stream::test, 0});
  for (const auto& [n, m] : {std::pair{5, 4}, {6, 6}, {4, 7}}) {
    std::vector<double> x, y;
    for (int i = 0; i < n; ++i) x.push_back(1 + random.normal());
    for (int i = 0; i < m; ++i) y.push_back(random.normal());
    const Interval found = permutation_test(x, y).interval.value();
    const double step = 1e-7 * (found.high - found.low);
    CHECK(permutation_test(shifted(x, -found.low + step), y).p <= 0.05);
    CHECK(permutation_test(shifted(x, -found.low - step), y).p > 0.05);
    CHECK(permutation_test(shifted(x, -found.high - step), y).p <= 0.05);
    CHECK(permutation_test(shifted(x, -found.high + step), y).p > 0.05);
  }
}

TEST_CASE("an interval whose share of the permutations is a whole number ends there, too", "[statistics]") {
  // 2 of 20 permutations are 10 %: those in which one arm, or the other, has all of the largest values.
  const std::vector<double> x{1.1, 2.3, 3.2}, y{0.4, 1.9, 2.6};
  for (const double confidence : {0.9, 0.8, 0.7}) {
    const Interval found = permutation_test(x, y, confidence).interval.value();
    const double step = 1e-7 * (found.high - found.low), level = 1 - confidence + 1e-9;
    CAPTURE(confidence);
    CHECK(permutation_test(shifted(x, -found.low + step), y).p <= level);
    CHECK(permutation_test(shifted(x, -found.low - step), y).p > level);
    CHECK(permutation_test(shifted(x, -found.high - step), y).p <= level);
    CHECK(permutation_test(shifted(x, -found.high + step), y).p > level);
  }
}

TEST_CASE("three runs in each arm have no interval of 95 %", "[statistics]") {
  CHECK_FALSE(permutation_test(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}).interval);
  CHECK(permutation_test(std::vector<double>{1, 2, 3}, std::vector<double>{4, 5, 6}, 0.8).interval);
}

TEST_CASE("all assignments are visited up to their bound", "[statistics]") {
  // One run against 199,999: as many assignments as the bound.
  std::vector<bool> visited(most_exact_permutations);
  CHECK(visit_assignments(1, visited.size() - 1,
                          [&](std::span<const std::size_t> first) { visited[first[0]] = true; }));
  CHECK(std::ranges::count(visited, true) == std::ssize(visited));
}

TEST_CASE("more runs than can be counted are sampled, with about the same p and interval", "[statistics]") {
  RandomSource random({5, Stream::test, 0});
  std::vector<double> x, y;
  for (int i = 0; i < 15; ++i) {
    x.push_back(0.8 + random.normal());
    y.push_back(random.normal());
  }
  const PermutationTest test = permutation_test(x, y);
  CHECK_FALSE(test.exact);
  CHECK(test.permutations == 100'000);
  // With so many runs, SciPy's two-sample t test is close to it; it is computed here by the textbook formula.
  double means[2] = {0, 0}, squares = 0;
  for (int i = 0; i < 15; ++i) {
    means[0] += x[static_cast<std::size_t>(i)] / 15;
    means[1] += y[static_cast<std::size_t>(i)] / 15;
  }
  for (int i = 0; i < 15; ++i)
    squares += std::pow(x[static_cast<std::size_t>(i)] - means[0], 2) +
               std::pow(y[static_cast<std::size_t>(i)] - means[1], 2);
  const double reach = 2.0484 * std::sqrt(squares / 28 * 2 / 15); // t(28, 0.975)
  CHECK(test.interval->low == Approx(means[0] - means[1] - reach).margin(0.06 * reach));
  CHECK(test.interval->high == Approx(means[0] - means[1] + reach).margin(0.06 * reach));
  CHECK(permutation_test(x, y).p == test.p);
}

TEST_CASE("a difference of three standard deviations is found with four runs in each arm", "[statistics]") {
  int found = 0;
  for (std::uint64_t which = 0; which < 2000; ++which) {
    RandomSource random({which, Stream::test, 0});
    std::vector<double> x, y;
    for (int i = 0; i < 4; ++i) {
      x.push_back(3 + random.normal());
      y.push_back(random.normal());
    }
    found += permutation_test(x, y).p <= 0.05;
  }
  CHECK(found / 2000.0 == Approx(0.82).margin(0.03)); // NumPy, 20,000 samples: 0.823
}

TEST_CASE("values that can't be squared, ties and no spread", "[statistics]") {
  CHECK(permutation_test(std::vector<double>{1e300, 2e300, 1.5e300, 3e300}, std::vector<double>{1, 2, 3, 4}).p ==
        Approx(2.0 / 70));
  const PermutationTest equal = permutation_test(std::vector<double>(6, 0.5), std::vector<double>(6, 0.5));
  CHECK(equal.p == 1.0);
  CHECK(equal.interval->low == 0.0);
  CHECK(equal.interval->high == 0.0);
  CHECK_THROWS_AS(permutation_test({}, b), Failed);
  CHECK_THROWS_AS(permutation_test(a, std::vector<double>{1, std::nan("")}), Failed);
}
