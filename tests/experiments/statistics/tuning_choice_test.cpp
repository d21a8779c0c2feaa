#include "autograd/error.hpp"
#include "experiments/statistics/spreads.hpp"
#include "experiments/statistics/tuning_choice.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cmath>
#include <vector>

using namespace heed;
using namespace heed::statistics;

TEST_CASE("between two settings, the other is chosen as often as the normal distribution says", "[statistics]") {
  // Results of 1.0 and 1.2, lower is better, standard error 0.3 / sqrt(4): Phi(-0.2 / (0.15 sqrt(2))) = 0.1729. The
  // choice's result is 1.0 or 1.2, so its variance is p (1 - p) 0.2^2.
  const TuningChoice choice = tuning_choice(std::array{1.0, 1.2}, 0.3, 4, false);
  const double p = 0.17288929307558015;
  CHECK(choice.others == Approx(p).margin(3 * std::sqrt(p * (1 - p) / 2000)));
  CHECK(choice.variance == Approx(choice.others * (1 - choice.others) * 0.04).epsilon(0.001));
  const TuningChoice mirrored = tuning_choice(std::array{-1.0, -1.2}, 0.3, 4, true);
  CHECK(mirrored.others == Approx(p).margin(3 * std::sqrt(p * (1 - p) / 2000)));
  CHECK(tuning_choice(std::array{1.0, 1.2}, 0, 1, false).variance == 0.0);
  CHECK(tuning_choice(std::array{1.0}, 1, 1, false).others == 0.0);
  CHECK_THROWS_AS(tuning_choice({}, 1, 1, false), Failed);
}

TEST_CASE("choices are further noise of the answer", "[statistics]") {
  Comparison c;
  c.answer = Answer::differs;
  c.difference.mean = -0.5;
  c.p = 0.001;
  // SciPy 1.17.1: 2 t.sf(0.5 / 0.2, 5 * 4^2), and t.sf((0.8 - 0.5) / 0.2, 5 * 4^2).
  CHECK(p_with_choices(c, 0.01, 5, 0.03) == Approx(0.014463949633398688));
  CHECK(p_with_choices(c, 0.01, 5, 0) == 0.001);
  c.p = 0.03;
  CHECK(p_with_choices(c, 0.01, 5, 0.03) == 0.03); // never below its own
  c.answer = Answer::same;
  c.margin = 0.8;
  c.p_equivalence_flips = 0.002;
  CHECK(p_with_choices(c, 0.01, 5, 0.03) == Approx(0.06877536031308518));
  CHECK(p_with_choices(c, 0, 5, 0.04) == Approx(0.0668072)); // normal: a difference without noise of its own
}

TEST_CASE("spreads are compared by the products of sums and differences", "[statistics]") {
  // Values less their means: -3, 0, 3 and -1, 2, -1.
  const std::vector<double> d = spread_differences(std::array{1.0, 4.0, 7.0}, std::array{0.0, 3.0, 0.0},
                                                   std::array{1.0, 1.0, 7.0});
  CHECK(d == std::vector<double>{8, -4, 8}); // 9 - 1, 0 - 4, 9 - 1
  // a constant difference: by rounding, the values' own differences are not all equal
  CHECK(spread_differences(std::array{0.4, 0.5, 0.9}, std::array{0.1, 0.2, 0.6}, std::array{0.3, 0.3, 0.3}) ==
        std::vector<double>(3, 0.0));
  CHECK_FALSE(p_of_equal_spreads(std::array{1.0, 2.0}, std::array{1.0, 2.0, 3.0}));
  // By a loop over the 70 assignments of the distances from the medians, 15, 5, 5, 5, 1.5, 0.5, 0.5, 0.5.
  CHECK(p_of_equal_spreads(std::array{-10.0, 0.0, 10.0, 10.0}, std::array{-1.0, 0.0, 1.0, 1.0}).value() ==
        Approx(2.0 / 70));
}
