#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace heed;
using namespace heed::statistics;

TEST_CASE("a share has Clopper and Pearson's interval", "[statistics]") {
  // SciPy 1.17.1: stats.binomtest(k, n).proportion_ci(method="exact").
  CHECK(share_of(5, 6).interval->low == Approx(0.3587654210025136));
  CHECK(share_of(5, 6).interval->high == Approx(0.9957892554855104));
  CHECK(share_of(0, 6).interval->low == 0.0);
  CHECK(share_of(6, 6).interval->high == 1.0);
  CHECK_THROWS_AS(share_of(0, 0), Failed);
  CHECK_THROWS_AS(share_of(7, 6), Failed);
}

TEST_CASE("what none of n did, a share may still do", "[statistics]") {
  // 1 - 0.05^(1/6) = 0.3930; with 59 runs it is 5 %, as the rule of thumb 3 / n says.
  CHECK(largest_share_of_none(6) == Approx(0.39304).epsilon(1e-4));
  CHECK(largest_share_of_none(59) == Approx(0.0495).epsilon(1e-2));
  CHECK_THROWS_AS(largest_share_of_none(0), Failed);
}

TEST_CASE("two shares are compared by Fisher's exact test", "[statistics]") {
  // SciPy 1.17.1: stats.fisher_exact([[a, n - a], [b, m - b]]).pvalue.
  CHECK(fisher_exact(4, 6, 6, 6) == Approx(0.4545454545454546));
  CHECK(fisher_exact(1, 6, 6, 6) == Approx(0.015151515151515154));
  CHECK(fisher_exact(0, 6, 6, 6) == Approx(0.0021645021645021645));
  CHECK(fisher_exact(3, 10, 9, 10) == Approx(0.019766611097880443));
  CHECK(fisher_exact(8, 10, 7, 12) == Approx(0.3808049535603715));
  CHECK(fisher_exact(6, 6, 6, 6) == Approx(1.0));
  CHECK_THROWS_AS(fisher_exact(7, 6, 1, 6), Failed);
}

TEST_CASE("two heaps have a gap between them", "[statistics]") {
  CHECK(gap_between_modes(std::vector<double>{0.99, 0.12, 0.98, 0.15, 0.97, 0.99}).value() == Approx(0.56));
  CHECK(gap_between_modes(std::vector<double>{1, 1, 1, 1, 1, 0.2}).value() == Approx(0.6)); // one seed of six
  CHECK_FALSE(gap_between_modes(std::vector<double>{1, 1, 1, 1, 1, 1}));
  CHECK_FALSE(gap_between_modes(std::vector<double>{0.1, 0.2, 0.3, 0.5, 0.6, 0.7}));
  CHECK_FALSE(gap_between_modes(std::vector<double>{0, 0, 1, 1, 1})); // five seeds are too few to tell
}

TEST_CASE("normal values seldom seem to be two heaps", "[statistics]") {
  RandomSource random({3, Stream::test, 0});
  for (const auto& [n, expected] : {std::pair{6, 0.022}, {8, 0.003}, {12, 0.0001}}) {
    int seen = 0;
    for (int i = 0; i < 20'000; ++i) {
      std::vector<double> values;
      for (int k = 0; k < n; ++k) values.push_back(random.normal());
      seen += gap_between_modes(values).has_value();
    }
    CHECK(seen / 20'000.0 == Approx(expected).margin(0.003));
  }
}
