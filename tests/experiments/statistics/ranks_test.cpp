// Tests of comparisons with censored runs, which are by ranks.
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/summary.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/seeded.hpp"

#include <cmath>
#include <limits>
#include <vector>

using namespace heed::statistics;

namespace {

SeedValues values(std::vector<double> numbers) { return seeded<SeedValues>(std::move(numbers), 0); }

/// Steps to a target, censored at 1000.
Comparison steps(const std::vector<double>& reference, const std::vector<double>& arm, Test test = Test::paired) {
  const std::vector<SeedValues> both{values(reference), values(arm)};
  return compare(both, std::vector<std::size_t>{0, 0},
                 {.test = test, .margin = 500.0, .range = 1000.0, .censored_at = 1000.0})[1]
      .value();
}

} // namespace

TEST_CASE("ranks are among the values of both samples, and equal values share theirs", "[statistics]") {
  std::vector<double> a{3, std::numeric_limits<double>::infinity(), 5},
      b{5, 1, std::numeric_limits<double>::infinity()};
  rank_together(a, b);
  CHECK(a == std::vector<double>{2, 5.5, 3.5});
  CHECK(b == std::vector<double>{3.5, 1, 5.5});
}

TEST_CASE("where runs did not reach the target, p is of ranks and nothing is the same", "[statistics]") {
  // Ranks of the reference: 2, 4, 6, 8, 10, 11.5; of the arm: 1, 3, 5, 7, 9, 11.5. Differences: -1 five times, and 0.
  // |sum| is at least 5 in 2 of the 32 flips of five signs.
  const std::vector<double> reference{200, 210, 220, 230, 240, 1000}, arm{195, 205, 215, 225, 235, 1000};
  const Comparison paired = steps(reference, arm);
  CHECK(paired.ranked);
  CHECK_FALSE(paired.margin);
  CHECK_FALSE(paired.equal);
  CHECK(paired.p == 2.0 / 32);
  CHECK(paired.difference.mean == Approx(-25.0 / 6)); // of the values
  CHECK(paired.answer == Answer::undecided);
  // SciPy 1.17.1: permutation_test of the difference of these ranks' means, independent samples, all 924.
  const Comparison unpaired = steps(reference, arm, Test::unpaired);
  CHECK(unpaired.ranked);
  CHECK(unpaired.p.value() == Approx(0.7380952380952381));
  // all six equal: not equal, since nothing is known of runs that did not reach it
  CHECK_FALSE(steps(std::vector<double>(6, 1000), std::vector<double>(6, 1000)).equal);
  CHECK(steps({1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}).equal);
  CHECK(steps({1, 2, 3, 4, 5, 6}, {2, 3, 4, 5, 6, 8}).answer == Answer::same); // none is censored
}

TEST_CASE("a censored run whose seed has no pair makes nothing the same", "[statistics]") {
  SeedValues reference = values({200, 210, 220, 230, 240, 250, 260}), arm = values({201, 211, 219, 231, 239, 251, 261});
  const auto asked = [&] {
    return compare(std::vector{reference, arm}, std::vector<std::size_t>{0, 0},
                   {.margin = 50.0, .censored_at = 1000.0})[1]
        .value();
  };
  CHECK(asked().answer == Answer::same);
  arm.seeds.push_back(7);
  arm.values.push_back(1000);
  CHECK_FALSE(asked().ranked); // all pairs are known
  CHECK(asked().answer != Answer::same);
  arm.values = reference.values;
  arm.values.push_back(1000);
  CHECK_FALSE(asked().equal);
}

TEST_CASE("where ranks and the mean have opposite directions, there is no answer", "[statistics]") {
  // Eleven runs are much faster, and one does not reach the target.
  std::vector<double> reference, arm;
  for (int i = 0; i < 12; ++i) {
    reference.push_back(200 + 20 * i);
    arm.push_back(i == 0 ? 1000 : 50 + i);
  }
  for (const Test test : {Test::paired, Test::unpaired}) {
    const Comparison c = steps(reference, arm, test);
    CHECK(c.p.value() <= 0.05);
    CHECK(c.difference.mean < 0);
    CHECK_FALSE(c.contradicts);
    CHECK(c.answer == Answer::differs);
  }
  // with a horizon of 10,000 steps the one run makes the arm slower in the mean
  arm[0] = 10'000;
  const std::vector<SeedValues> both{values(reference), values(arm)};
  for (const Test test : {Test::paired, Test::unpaired}) {
    const Comparison c =
        compare(both, std::vector<std::size_t>{0, 0}, {.test = test, .censored_at = 10'000.0})[1].value();
    CHECK(c.p.value() <= 0.05);
    CHECK(c.difference.mean > 0);
    CHECK(c.contradicts);
    CHECK(c.rank_difference < 0);
    CHECK(c.answer == Answer::undecided);
    CHECK(c.interval->low <= 0);
    CHECK(c.interval->high >= 0);
  }
}
