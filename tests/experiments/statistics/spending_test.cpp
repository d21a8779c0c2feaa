// Tests of alpha spending: the level that each look may spend, and that all looks together stay at 5 %.
#include "experiments/statistics/corrections.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/comparison.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/seeded.hpp"

#include <numeric>
#include <vector>

using namespace heed::statistics;

TEST_CASE("looks spend what Lan and DeMets' function of Pocock's kind says", "[statistics]") {
  // Python: 0.05 * math.log(1 + (math.e - 1) * n / 10), and differences of these.
  const std::vector<double> two = look_levels(std::vector<std::size_t>{6, 10});
  REQUIRE(two.size() == 2);
  CHECK(two[0] == Approx(0.0354256533).epsilon(1e-6));
  CHECK(two[1] == Approx(0.0145743467).epsilon(1e-6));
  // Lan and DeMets 1983: with five equally spaced looks, the first spends 0.01477 of the 5 %; a look at half of all
  // seeds spends 0.0310.
  const std::vector<double> five = look_levels(std::vector<std::size_t>{4, 8, 12, 16, 20});
  CHECK(five[0] == Approx(0.014770).epsilon(1e-4));
  CHECK(look_levels(std::vector<std::size_t>{10, 20})[0] == Approx(0.031006).epsilon(1e-4));
  for (const double level : {0.05, 0.01})
    for (const std::vector<std::size_t>& looks :
         std::vector<std::vector<std::size_t>>{{10}, {6, 10}, {4, 8, 12, 16, 20}, {2, 3, 100}}) {
      const std::vector<double> spent = look_levels(looks, level);
      CHECK(std::accumulate(spent.begin(), spent.end(), 0.0) == Approx(level));
    }
  CHECK(look_levels({}).empty());
  CHECK_THROWS_AS(look_levels(std::vector<std::size_t>{6, 6}), heed::Failed);
  CHECK_THROWS_AS(look_levels(std::vector<std::size_t>{0, 6}), heed::Failed);
  CHECK_THROWS_AS(look_levels(std::vector<std::size_t>{6}, 0.0), heed::Failed);
}

TEST_CASE("two looks find what isn't there in 5 % of sweeps at most, and in more without the rule",
          "[statistics][many]") {
  // Under the null hypothesis, look by look: flips of 6 seeds have p <= 0.031 in 2 of 64, and flips of 10 seeds have p
  // <= 0.0145 in 14 of 1024, so the total is at most 0.045. Two looks at 5 % each would find 0.06 to 0.08.
  constexpr std::size_t sweeps = 2000;
  const std::vector<std::size_t> looks{6, 10}, reference_of{0, 0};
  const std::vector<double> levels = look_levels(looks);
  std::size_t kept = 0, lost = 0;
  for (std::size_t sweep = 0; sweep < sweeps; ++sweep) {
    bool found = false, found_at_5 = false;
    std::vector<double> arm, reference;
    for (std::size_t k = 0; k < looks.size(); ++k) {
      for (std::size_t seed = arm.size(); seed < looks[k]; ++seed) {
        const auto [a, b] = heed::normal_pair({20261123, heed::Stream::test, sweep}, seed);
        arm.push_back(a);
        reference.push_back(b);
      }
      const Comparison c = *compare(std::vector{seeded<SeedValues>(reference), seeded<SeedValues>(arm)}, reference_of,
                                    {.level = levels[k]})[1];
      found = found || c.answer == Answer::differs;
      found_at_5 = found_at_5 || *c.p <= 0.05;
    }
    kept += found;
    lost += found_at_5;
  }
  // Three standard errors of 2000 sweeps are 0.015.
  CHECK(static_cast<double>(kept) / sweeps < 0.05);
  CHECK(static_cast<double>(kept) / sweeps > 0.025); // the test does reject sometimes
  CHECK(static_cast<double>(lost) / sweeps > 0.055);
}
