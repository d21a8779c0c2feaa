#include "autograd/error.hpp"
#include "experiments/statistics/equivalence.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/sleep_data.hpp"

#include <vector>

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
