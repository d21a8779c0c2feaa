#include "experiments/statistics/corrections.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace heed::statistics;

TEST_CASE("Holm's correction is statsmodels'", "[statistics]") {
  // statsmodels 0.15.0: multipletests([.01, .04, .03, .005, .5], method="holm")[1].
  const std::vector<double> p = holm(std::vector<double>{0.01, 0.04, 0.03, 0.005, 0.5});
  const std::vector<double> expected{0.04, 0.09, 0.09, 0.025, 0.5};
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(p[i] == Approx(expected[i]));
}

TEST_CASE("one p value needs no correction, and none exceeds 1", "[statistics]") {
  CHECK(holm(std::vector<double>{0.03}) == std::vector<double>{0.03});
  CHECK(holm(std::vector<double>{0.7, 0.8}) == std::vector<double>{1.0, 1.0});
  CHECK(holm({}).empty());
}
