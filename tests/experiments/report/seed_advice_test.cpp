// Tests of a plan's advice on the number of seeds.
#include "experiments/report/seed_advice.hpp"

#include "autograd/error.hpp"
#include "tests/catch.hpp"
#include "tests/contains.hpp"

#include <chrono>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

using namespace heed;
using test::contains;

namespace {

Plan plan(std::size_t arms, std::int64_t seeds) {
  Plan out;
  out.arms.resize(arms);
  for (std::int64_t seed = 0; seed < seeds; ++seed) out.seeds.push_back(seed);
  return out;
}

} // namespace

TEST_CASE("a plan says when it has too few seeds for any answer", "[report]") {
  CHECK(contains(seed_advice(plan(4, 5)), "underpowered"));
  CHECK(contains(seed_advice(plan(4, 5)), "n = 5, p cannot be below 0.0625; at least 6 seeds"));
  const std::string enough = seed_advice(plan(4, 8));
  CHECK_FALSE(contains(enough, "underpowered"));
  CHECK(contains(enough, "smallest possible p with 8 seeds: 0.0078"));
}

TEST_CASE("a plan says how many seeds effects take", "[report]") {
  // power_test.cpp has the numbers: 34, 10, 7 and 6 for one arm. The unpaired test has SciPy's numbers for sqrt(2)
  // times the effect, except 5 for effects 1.5 and 2: unlike the t test, permutations need 5 runs of each arm there,
  // and 4 are too few.
  const std::string one = seed_advice(plan(2, 8));
  CHECK(contains(one, "  effect d_z  seeds  seeds, unpaired  power, n = 8  power, unpaired\n"));
  for (const auto* row : {"         0.5     34               33 ", "           1     10                9 ",
                          "         1.5      7                5 ", "           2      6                5 "})
    CHECK(contains(one, row));
  CHECK_FALSE(contains(one, ", 1 arm"));
  CHECK_FALSE(contains(one, "same:"));
  const std::string ten = seed_advice(plan(11, 8), 0.2);
  CHECK(contains(ten, "  effect d_z  seeds, 1 arm  seeds, 10 arms  seeds, unpaired  power, n = 8  power, unpaired\n"
                      "         0.2           199             337 "));
  CHECK_FALSE(contains(ten, "1.5"));
}

TEST_CASE("a plan that asks for not worse has a column for it", "[report]") {
  Plan five = plan(2, 5);
  five.margin = 0.02;
  five.answer = "not worse";
  const std::vector<EffectRow> rows = effect_rows(five);
  for (const EffectRow& row : rows) CHECK_FALSE(row.same);
  // All five of m + d are above 0: Phi(m)^5.
  CHECK(rows[1].not_worse.value() == Approx(std::pow(0.8413, 5)).margin(0.03));
  CHECK(rows[3].not_worse.value() == Approx(std::pow(0.9772, 5)).margin(0.03));
  const std::string text = seed_advice(five);
  CHECK(contains(text, "smallest possible p with 5 seeds: 0.031"));
  CHECK(contains(text, "power, unpaired  not worse\n"));
  CHECK(contains(text, "not worse: in how many of 100 sweeps"));
  CHECK_FALSE(contains(text, "same:"));
  five.seeds.resize(4);
  CHECK(contains(seed_advice(five), "with n = 4, p cannot be below 0.0625; at least 5 seeds are needed"));
  five.test = "unpaired";
  five.seeds.resize(3);
  CHECK(contains(seed_advice(five), "smallest possible p with 3 seeds: 0.05\n"));
}

TEST_CASE("a plan says what its own seeds find", "[report][many]") {
  // All six signs must agree: Phi(1)^6 + Phi(-1)^6 = 0.354. 2000 simulated sweeps estimate it with a standard error of
  // 0.011.
  Plan six = plan(2, 6);
  const std::vector<EffectRow> rows = effect_rows(six);
  REQUIRE(rows.size() == 4);
  CHECK(rows[1].power_paired == Approx(0.354).margin(0.03));
  CHECK_FALSE(rows[1].same);
  CHECK(contains(seed_advice(six), "the unpaired test finds more"));
  six.margin = 0.1;
  six.test = "unpaired";
  const std::string text = seed_advice(six);
  std::string unwrapped;
  std::istringstream words(text);
  for (std::string word; words >> word;) unwrapped += word + " ";
  CHECK(contains(text, "power, n = 6  power, unpaired   same\n"));
  CHECK(contains(text, "smallest possible p with 6 seeds: 0.0022")); // 2 of 924
  CHECK(contains(unwrapped, "if the margin, 0.1, is d_z standard deviations"));
  CHECK(contains(text, "This plan uses the unpaired test;"));
  for (const Plan& any : {six, plan(2, 100), plan(12, 5), plan(12, 6)}) {
    std::istringstream lines(seed_advice(any));
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 104);
  }
  six.seeds.resize(3);
  CHECK(contains(seed_advice(six), "n = 3, p cannot be below 0.1; at least 4 seeds"));
}

TEST_CASE("a plan with looks says what they may spend, and goes by the last", "[report]") {
  Plan looks = plan(2, 10);
  looks.looks = {6, 10};
  const std::string text = seed_advice(looks);
  // 0.05 ln(1 + (e - 1) 0.6) = 0.0354, and the rest.
  CHECK(contains(text, "  looks    at 6, 10 seeds, where p may be 0.0354, 0.0146: 5 % together\n"));
  CHECK(contains(text, "p <= 0.0146 (the last"));
  CHECK(effect_rows(looks)[1].power_paired < effect_rows(plan(2, 10))[1].power_paired);
  CHECK(effect_rows(looks)[1].seeds == 14); // SciPy: at level 0.01457, the t test has power 0.8 with 14 or more pairs
  CHECK_FALSE(contains(seed_advice(plan(2, 10)), "looks"));
}

TEST_CASE("a plan's further metrics are in the family that p is corrected for", "[report]") {
  Plan several = plan(3, 8);
  several.also = {"val_accuracy", "val_bits_per_character"};
  CHECK(contains(seed_advice(several), "seeds, 2 arms by 3 metrics"));
  // as many comparisons as six arms by one metric
  const auto rows = effect_rows(several), six = effect_rows(plan(7, 8));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].seeds_each == six[i].seeds_each);
    CHECK(rows[i].seeds_unpaired == six[i].seeds_unpaired);
    CHECK(rows[i].power_paired == six[i].power_paired);
    CHECK(rows[i].power_unpaired == six[i].power_unpaired);
  }
  several.test = "unpaired";
  several.seeds.resize(4); // 2 of 70 for one comparison, and six times as much for six
  CHECK(contains(seed_advice(several), "n = 4, p cannot be below 0.171; at least 5 seeds"));
  several.margin = 0.1; // of the first metric
  Plan two = plan(3, 4);
  two.test = "unpaired";
  two.margin = 0.1;
  CHECK(effect_rows(several)[2].same == effect_rows(two)[2].same);
}

TEST_CASE("what a plan says of power takes no time", "[report]") {
  const auto begin = std::chrono::steady_clock::now();
  Plan large = plan(11, 9);
  large.margin = 0.1;
  CHECK(effect_rows(large).size() == 4);
  CHECK(std::chrono::steady_clock::now() - begin <
        std::chrono::seconds(10)); // 0.2 s, or many times that with sanitizers
}

TEST_CASE("where nothing is compared there is nothing to say", "[report]") { CHECK(seed_advice(plan(1, 3)).empty()); }

TEST_CASE("an effect of nothing takes no number of seeds", "[report]") {
  CHECK_THROWS_AS(seed_advice(plan(2, 8), 0.0), Failed);
}
