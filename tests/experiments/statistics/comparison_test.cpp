#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/bootstrap.hpp"
#include "experiments/statistics/comparison.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/summary.hpp"
#include "experiments/statistics/unpaired.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/seeded.hpp"

#include <cmath>
#include <optional>
#include <vector>

using namespace heed::statistics;

namespace {

SeedValues values(std::vector<double> numbers, std::int64_t first_seed = 0) {
  return seeded<SeedValues>(std::move(numbers), first_seed);
}

const SeedValues reference = values({1.00, 1.10, 1.20, 1.05, 0.95, 1.15});
const SeedValues worse = values({1.30, 1.41, 1.49, 1.36, 1.24, 1.46});       // 0.30, 0.31, 0.29, 0.31, 0.29, 0.31
const SeedValues alike = values({1.012, 1.092, 1.210, 1.037, 0.956, 1.141}); // 0.012, -0.008, 0.010, -0.013, ...
const SeedValues unclear = values({1.30, 0.90, 1.50, 1.02, 0.85, 1.35});

/// Compares each arm with `reference`, for a metric where lower is better.
std::vector<std::optional<Comparison>> with_reference(std::vector<SeedValues> arms, std::optional<double> margin) {
  arms.insert(arms.begin(), reference);
  auto all = compare(arms, std::vector<std::size_t>(arms.size(), 0), {.margin = margin});
  CHECK_FALSE(all.front());
  all.erase(all.begin());
  return all;
}

} // namespace

TEST_CASE("a comparison holds everything that is said of an arm", "[statistics]") {
  const auto all = with_reference(std::vector{worse, unclear}, 0.05);
  REQUIRE(all.size() == 2);
  REQUIRE(all[0]);
  const Comparison& c = *all[0];
  CHECK(c.seeds == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
  CHECK(c.difference.mean == Approx(1.81 / 6));
  // 0.29, 0.29 | 0.30, 0.31 | 0.31, 0.31: half of the second value and half of the fifth remain.
  CHECK(c.interquartile->value == Approx((0.5 * 0.29 + 0.30 + 0.31 + 0.5 * 0.31) / 3));
  CHECK_FALSE(c.interquartile->interval); // only with eight or more pairs
  CHECK(c.effect_size.value() > 10);
  CHECK(c.improvement->value == 0.0);
  CHECK(c.p_flip.value() == 0.03125);
  CHECK(c.p_holm.value() == 0.0625);
  CHECK(c.p.value() == 0.03125);
  CHECK(c.exact);
  CHECK(c.flips == 64);
  CHECK(c.margin.value() == 0.05);
  CHECK(c.p_equivalence.value() > 0.999);
}

TEST_CASE("there are three answers", "[statistics]") {
  const auto all = with_reference(std::vector{worse, alike, unclear}, 0.03);
  CHECK(all[0]->answer == Answer::differs);
  CHECK(all[1]->answer == Answer::same);
  CHECK(all[2]->answer == Answer::undecided);
}

TEST_CASE("the interval of an arm that is the same is that of the equivalence tests", "[statistics]") {
  // By all 64 flips of d - theta, each one-sided p > 0.05 from -0.0105 to 0.01.
  const auto one = with_reference(std::vector{alike}, 0.03);
  REQUIRE(one[0]->answer == Answer::same);
  REQUIRE(one[0]->interval);
  CHECK(one[0]->interval->low == Approx(-0.0105));
  CHECK(one[0]->interval->high == Approx(0.01));
  // all arms' intervals hold together, so with further arms it is wider
  const auto all = with_reference(std::vector{alike, worse, unclear}, 0.03);
  REQUIRE(all[0]->answer == Answer::same);
  CHECK(all[0]->interval->low < one[0]->interval->low);
  CHECK(all[0]->interval->high > one[0]->interval->high);
  CHECK(all[0]->interval->low >= -0.03);
  CHECK(all[0]->interval->high <= 0.03);
  // An arm that differs by less than the margin: the interval contains 0.
  const auto above = with_reference(std::vector{worse}, 0.5);
  REQUIRE(above[0]->answer == Answer::same);
  CHECK(above[0]->interval->low == 0);
  CHECK(above[0]->interval->high == Approx(0.31));
}

TEST_CASE("an interval lies within the margin exactly where the arm is the same", "[statistics][many]") {
  int same = 0, others = 0, moved = 0;
  for (std::uint64_t which = 0; which < 300; ++which) {
    heed::RandomSource random({which, heed::Stream::test, 4});
    const std::size_t seeds = 5 + which % 4, count = 2 + which % 5;
    const Test test = which % 3 == 0 ? Test::unpaired : Test::paired;
    std::vector<SeedValues> arms;
    for (std::size_t a = 0; a < count; ++a) {
      std::vector<double> x;
      for (std::size_t i = 0; i < seeds; ++i)
        x.push_back(0.4 * static_cast<double>(a) + (which % 2 == 0 ? random.normal() : -std::log1p(-random.uniform())));
      arms.push_back(values(std::move(x)));
    }
    constexpr double margin = 2;
    for (const auto& c : compare(arms, std::vector<std::size_t>(count, 0), {.test = test, .margin = margin})) {
      if (!c || !c->interval) continue;
      const bool within = c->interval->low >= -margin && c->interval->high <= margin;
      const bool at_margin = c->interval->low == -margin || c->interval->high == margin;
      moved += at_margin;
      if (c->answer == Answer::same) CHECK(within);
      else CHECK((!within || at_margin));
      if (c->answer == Answer::same) CHECK((c->interval->low <= 0 && c->interval->high >= 0));
      ++(c->answer == Answer::same ? same : others);
    }
  }
  CHECK(same > 100);
  CHECK(others > 100);
  CHECK(moved > 5);
}

TEST_CASE("equal differences have no interval, for their spread is unknown", "[statistics]") {
  const SeedValues moved = values({1.40, 1.50, 1.60, 1.45, 1.35, 1.55}); // 0.40 in each seed, but for rounding
  const auto one = compare(std::vector{reference, moved}, std::vector<std::size_t>{0, 0}, {.resolution = 0x1p-50});
  CHECK(one[1]->constant);
  CHECK(one[1]->answer == Answer::differs);
  CHECK_FALSE(one[1]->interval);
  CHECK_FALSE(one[1]->interval_flips);
  CHECK_FALSE(one[1]->difference.interval);
  const auto same = compare(std::vector{reference, moved}, std::vector<std::size_t>{0, 0},
                            {.margin = 0.5, .resolution = 0x1p-50});
  REQUIRE(same[1]->answer == Answer::same);
  CHECK(same[1]->interval->low == -0.5); // all that the test says: it is within the margin
  CHECK(same[1]->interval->high == 0.5);
  CHECK_FALSE(compare(std::vector{reference, reference}, std::vector<std::size_t>{0, 0}, {})[1]->constant);
}

TEST_CASE("paired and unpaired comparisons in one family share Holm's correction", "[statistics]") {
  const std::vector<SeedValues> arms{reference, worse, values({1.1, 1.3, 0.9, 1.2, 1.0, 1.15}, 10), alike};
  const std::vector<std::size_t> of{0, 0, 0, 0};
  std::vector<ComparisonRequest> questions(4, {.test = Test::unpaired});
  questions[1].test = questions[3].test = Test::paired;
  const auto all = compare_each(arms, of, questions);
  const double unpaired = permutation_test(arms[2].values, reference.values).p;
  CHECK(all[1]->p_flip.value() == 0.03125);
  CHECK(all[1]->reference_runs == 0);
  CHECK(all[2]->p_flip.value() == unpaired);
  CHECK(all[2]->p.value() == unpaired); // six pairs cannot reach 5 % among three, so they take nothing from it
  CHECK(all[2]->family == 1);
  CHECK(all[1]->family == 3);
  CHECK(all[1]->p.value() == Approx(3 * 2.0 / 64));
  CHECK(all[1]->answer == Answer::underpowered);
  CHECK(all[1]->seeds_needed == 7); // 2 / 2^7 * 3 = 0.047
}

TEST_CASE("unpaired, the equivalence interval inverts the one-sided tests, also with unequal numbers of runs",
          "[statistics]") {
  // 3 and 8 runs, so that no permutation is the mirror image of another. By the 165 permutations of a - theta and b.
  const std::vector<double> a{1.02, 1.10, 0.97}, b{1.00, 1.05, 0.94, 1.12, 1.01, 0.99, 1.08, 0.96};
  const auto test = permutation_test(a, b, 0.95);
  REQUIRE(test.sides);
  const auto p = [&](double theta, bool above) {
    std::vector<double> moved = a;
    for (double& x : moved) x -= theta;
    return above ? permutation_test(moved, b).p_above : permutation_test(b, moved).p_above;
  };
  constexpr double little = 1e-6;
  CHECK(p(test.sides->low - little, true) <= 0.05);
  CHECK(p(test.sides->low + little, true) > 0.05);
  CHECK(p(test.sides->high + little, false) <= 0.05);
  CHECK(p(test.sides->high - little, false) > 0.05);
}

TEST_CASE("without a margin nothing is the same", "[statistics]") {
  const auto all = with_reference(std::vector{alike}, {});
  CHECK_FALSE(all[0]->p_equivalence);
  CHECK_FALSE(all[0]->margin);
  CHECK(all[0]->answer == Answer::undecided);
}

TEST_CASE("a difference within the margin is the same, as far as the margin says", "[statistics]") {
  CHECK(with_reference(std::vector{worse}, 0.5)[0]->answer == Answer::same);
  CHECK(with_reference(std::vector{worse}, 0.5)[0]->p.value() == 0.03125);
}

TEST_CASE("arms that are beyond the margin don't keep others from being the same", "[statistics]") {
  const auto all = with_reference(std::vector{alike, worse, unclear}, 0.03);
  // With all signs reversed, a difference clearly beyond the margin becomes one clearly within it.
  CHECK(all[0]->p_equivalence_flips.value() == 2.0 / 64);
  CHECK(all[0]->answer == Answer::same);
  CHECK(all[1]->p_equivalence_flips.value() == 1.0);
}

TEST_CASE("five seeds are too few for a difference, and enough for none", "[statistics]") {
  const SeedValues five = values({1.30, 1.41, 1.49, 1.36, 1.24});
  for (const std::optional<double> margin : {std::optional<double>(), std::optional<double>(0.2)}) {
    const auto all = with_reference(std::vector{five}, margin);
    CHECK(all[0]->p.value() == 0.0625);
    CHECK(all[0]->answer == Answer::underpowered);
    CHECK_FALSE(all[0]->interval);
  }
  const auto within = with_reference(std::vector{five}, 0.5);
  CHECK(within[0]->answer == Answer::same);
  REQUIRE(within[0]->interval); // of the equivalence tests, which five seeds are enough for
  CHECK(within[0]->interval->high < 0.5);
  CHECK(with_reference(std::vector{values({1.30, 1.41, 1.49, 1.36})}, 0.5)[0]->answer == Answer::underpowered);
}

TEST_CASE("an arm that can't reach 5 % takes nothing from those that can", "[statistics]") {
  // Two pairs with a maximal |t|: if this arm were in the family, every p would be at least 0.5.
  const auto all = with_reference(std::vector{worse, values({5.00, 5.10}), values({5.00, 5.10, 5.21})}, {});
  CHECK(all[0]->p.value() == 0.03125);
  CHECK(all[0]->answer == Answer::differs);
  CHECK(all[1]->p.value() == 0.5);
  CHECK(all[1]->answer == Answer::underpowered);
  CHECK(all[2]->answer == Answer::underpowered);
}

TEST_CASE("an arm without a seed in common is not compared", "[statistics]") {
  const auto all = with_reference(std::vector{values({1, 2}, 50), worse}, {});
  CHECK_FALSE(all[0]);
  CHECK(all[1]->p.value() == 0.03125);
  CHECK(with_reference({}, {}).empty());
}

TEST_CASE("each arm is compared with its own reference, and all together are corrected", "[statistics]") {
  const SeedValues far = values({9.00, 9.10, 9.20, 9.05, 8.95, 9.15}),
                   farther = values({9.30, 9.41, 9.49, 9.36, 9.24, 9.46});
  const auto all = compare(std::vector{reference, worse, far, farther}, std::vector<std::size_t>{0, 0, 2, 2},
                           {.margin = 0.5});
  CHECK_FALSE(all[0]);
  CHECK_FALSE(all[2]);
  CHECK(all[3]->difference.mean == Approx(all[1]->difference.mean));
  CHECK(all[3]->p.value() == 0.03125);
  CHECK(all[3]->p_holm.value() == 0.0625);
}

TEST_CASE("an arm that can't reach 5 % is not counted among the equivalence tests", "[statistics]") {
  const auto all = with_reference({alike, values({1.01, 1.09})}, 0.03);
  CHECK(all[0]->p_equivalence_flips.value() == 1.0 / 64);
  CHECK(all[1]->p_equivalence);
  CHECK_FALSE(all[1]->p_equivalence_flips);
}

TEST_CASE("pairs follow the seed, not the place", "[statistics]") {
  SeedValues turned = worse;
  std::swap(turned.seeds[0], turned.seeds[5]);
  std::swap(turned.values[0], turned.values[5]);
  const auto all = with_reference(std::vector{turned}, {});
  CHECK(all[0]->difference.mean == Approx(1.81 / 6));
  CHECK(*all[0]->difference.standard_deviation == Approx(0.0098319).epsilon(1e-4));
}

TEST_CASE("what differs by rounding is equal", "[statistics]") {
  SeedValues rounded = reference;
  for (double& x : rounded.values) x *= 1 + 3e-15;
  const ComparisonRequest question{.margin = 0.01, .resolution = 0x1p-23};
  const auto all = compare(std::vector{reference, rounded, worse}, std::vector<std::size_t>{0, 0, 0}, question);
  CHECK(all[1]->difference.mean == 0.0);
  CHECK(all[1]->p.value() == 1.0);
  CHECK(all[1]->answer == Answer::same);
  CHECK(all[2]->p.value() == 0.03125);
  CHECK(compare(std::vector{reference, rounded}, std::vector<std::size_t>{0, 0}, {})[1]->answer == Answer::differs);
}

TEST_CASE("a difference that is constant but for rounding is no noise", "[statistics]") {
  constexpr double resolution = 0x1p-50;
  std::vector<double> third; // each is the reference and a third, rounded
  for (const double x : reference.values) third.push_back(x + 1.0 / 3);
  const std::vector<SeedValues> alone{reference, unclear}, beside{reference, unclear, values(third)};
  const ComparisonRequest question{.margin = 0.05, .resolution = resolution};
  const auto one = compare(alone, std::vector<std::size_t>(2, 0), question);
  const auto two = compare(beside, std::vector<std::size_t>(3, 0), question);
  CHECK(two[1]->interval->low == one[1]->interval->low);
  CHECK(two[1]->interval->high == one[1]->interval->high);
  CHECK(two[2]->difference.standard_deviation == 0.0);
  CHECK(two[2]->interval->low == two[2]->interval->high);
  CHECK_FALSE(two[2]->effect_size);

  // A margin that the difference equals is not kept.
  const auto at_margin = compare(beside, std::vector<std::size_t>(3, 0), {.margin = 1.0 / 3, .resolution = resolution});
  CHECK(at_margin[2]->answer == Answer::differs);
  CHECK(at_margin[2]->p_equivalence_flips == 1.0);
  CHECK(at_margin[2]->p_equivalence == 1.0);
}

TEST_CASE("one large value erases no difference of the other seeds", "[statistics]") {
  std::vector<double> base = reference.values, lower = base;
  for (double& x : lower) x -= 0.1;
  base[0] = lower[0] = 3e6;
  const auto c = compare(std::vector{values(base), values(lower)}, std::vector<std::size_t>{0, 0},
                         {.resolution = 0x1p-23})[1];
  CHECK(c->interquartile->value == Approx(-0.1));
  CHECK_FALSE(c->equal);
}

TEST_CASE("samples that are constant but for rounding don't correlate", "[statistics]") {
  const std::vector<double> tenths(6, 0.1);
  CHECK_FALSE(pair_correlation(tenths, reference.values));
  const SeedValues steady = values({0.1, std::nextafter(0.1, 1), 0.1, std::nextafter(0.1, 0), 0.1, 0.1});
  const auto all = compare(std::vector{reference, steady}, std::vector<std::size_t>{0, 0}, {.resolution = 0x1p-50});
  CHECK_FALSE(all[1]->correlation);
}

TEST_CASE("differences of differences have the rounding of what they were made of", "[statistics]") {
  const SeedValues with = values({0.1, 0.2, 0.3, 0.1, 0.2, 0.3}),
                   alone = values({0.3 - 0.2, 0.5 - 0.3, 0.7 - 0.4, 0.4 - 0.3, 1.2 - 1.0, 1.3 - 1.0});
  const std::vector<SeedValues> both{alone, with};
  CHECK(compare(both, std::vector<std::size_t>{0, 0}, {})[1]->difference.mean != 0);
  const auto c = compare(both, std::vector<std::size_t>{0, 0}, {.rounding = 1.3 * 0x1p-50})[1];
  CHECK(c->equal);
  CHECK(c->difference.mean == 0);
  CHECK(c->answer != Answer::differs);
}

TEST_CASE("the interval excludes zero just where a difference is found", "[statistics][many]") {
  // Noise of different shapes and arms of different strengths, so that sometimes the interval and sometimes the
  // step-down test decides.
  int differ = 0, closed = 0;
  for (std::uint64_t which = 0; which < 400; ++which) {
    heed::RandomSource random({which, heed::Stream::test, 0});
    const std::size_t seeds = 6 + which % 5;
    std::vector<SeedValues> arms;
    for (int a = 0; a < 6; ++a) {
      std::vector<double> x;
      for (std::size_t i = 0; i < seeds; ++i)
        x.push_back(0.6 * a + (which % 2 == 0 ? random.normal() : -std::log1p(-random.uniform())));
      arms.push_back(values(std::move(x)));
    }
    for (const auto& c : compare(arms, std::vector<std::size_t>(6, 0), {})) {
      if (!c) continue;
      REQUIRE(c->p);
      if (!c->interval) continue;
      const bool found = *c->p <= significance_level;
      const Interval& interval = *c->interval;
      if (found) CHECK((interval.low >= 0 || interval.high <= 0));
      else CHECK((interval.low <= 0 && interval.high >= 0));
      CHECK(interval.low <= c->difference.mean);
      CHECK(interval.high >= c->difference.mean);
      differ += found;
      closed += found && (interval.low == 0 || interval.high == 0);
    }
  }
  CHECK(differ > 200);
  CHECK(closed > 20);
}

TEST_CASE("no interval goes beyond what the metric's bounds allow", "[statistics]") {
  // An accuracy: -0.75 on average, of six pairs, four of which fall from 1 to 0.
  const SeedValues one = values({1, 1, 1, 1, 1, 1}), fallen = values({0, 0, 0, 0, 0.75, 0.75}),
                   noise = values({0.9, 1, 0.8, 1, 0.7, 0.95});
  for (const auto& c : compare(std::vector{one, fallen, noise}, std::vector<std::size_t>{0, 0, 0}, {.range = 1}))
    if (c) {
      REQUIRE(c->interval);
      CHECK(c->interval->low >= -1);
      CHECK(c->interval->high <= 1);
    }
}

TEST_CASE("unpaired, four runs of an arm are enough where arms don't overlap", "[statistics]") {
  const SeedValues low = values({1.0, 1.3, 1.1, 1.2}), high = values({2.2, 2.0, 2.3, 2.1}, 10);
  const auto all = compare(std::vector{low, high}, std::vector<std::size_t>{0, 0}, {.test = Test::unpaired});
  REQUIRE(all[1]); // no seed in common
  CHECK(all[1]->p.value() == Approx(2.0 / 70));
  CHECK(all[1]->answer == Answer::differs);
  CHECK(all[1]->difference.mean == Approx(1.0));
  CHECK(all[1]->reference_runs == 4);
  CHECK(all[1]->interval->low > 0);
  // Two such arms share the level: Holm's p is twice as large.
  const auto two = compare(std::vector{low, high, high}, std::vector<std::size_t>{0, 0, 0}, {.test = Test::unpaired});
  CHECK(two[1]->p.value() == Approx(4.0 / 70));
  CHECK(two[1]->answer == Answer::underpowered);
  CHECK(two[1]->seeds_needed == 5);
}

TEST_CASE("unpaired intervals share 5 % among the arms that are compared", "[statistics]") {
  const SeedValues low = values({1.0, 1.35, 1.1, 1.2, 1.05, 0.9}), high = values({1.3, 1.0, 1.25, 1.1, 1.6, 1.45}, 10);
  const auto expected = [&](double confidence) {
    return permutation_test(high.values, low.values, confidence).interval.value();
  };
  const auto one = compare(std::vector{low, high}, std::vector<std::size_t>{0, 0}, {.test = Test::unpaired});
  CHECK(one[1]->interval->low == expected(0.95).low);
  CHECK(one[1]->interval->high == expected(0.95).high);
  const auto two = compare(std::vector{low, high, high}, std::vector<std::size_t>{0, 0, 0}, {.test = Test::unpaired});
  CHECK(two[1]->interval->low == expected(0.975).low);
  CHECK(two[1]->interval->high == expected(0.975).high);
  CHECK(expected(0.975).high > expected(0.95).high);
  // This holds for any position of the reference.
  const auto between = compare(std::vector{high, low, high}, std::vector<std::size_t>{1, 1, 1},
                               {.test = Test::unpaired});
  CHECK(between[0]->interval->low == expected(0.975).low);
  CHECK(between[2]->interval->high == expected(0.975).high);
}

TEST_CASE("unpaired, an arm that can't reach 5 % takes nothing from those that can", "[statistics]") {
  const SeedValues low = values({1.0, 1.3, 1.1, 1.2}), high = values({2.2, 2.0, 2.3, 2.1}, 10),
                   begun = values({2.5}, 20);
  const std::vector<std::size_t> reference_of{0, 0, 0};
  const auto all = compare(std::vector{low, high, begun}, reference_of, {.test = Test::unpaired, .margin = 0.5});
  CHECK(all[1]->p.value() == Approx(2.0 / 70));
  CHECK(all[1]->answer == Answer::differs);
  CHECK(all[1]->family == 1);
  CHECK(all[2]->smallest_p == Approx(2 * 1.0 / 5));
  CHECK(all[2]->answer == Answer::underpowered);
  CHECK(all[2]->p.value() >= all[2]->smallest_p);
}

TEST_CASE("unpaired, no p is below what it can reach", "[statistics]") {
  // 8 runs of the reference and of one arm, 4 of another: Holm's second step leaves the other's p as it is.
  const SeedValues base = values({1.0, 1.3, 1.1, 1.2, 1.05, 1.15, 1.25, 1.35}),
                   much = values({2.0, 2.3, 2.1, 2.2, 2.05, 2.15, 2.25, 2.35}), few = values({0.1, 0.2, 0.3, 0.4});
  const auto all = compare(std::vector{base, much, few}, std::vector<std::size_t>{0, 0, 0}, {.test = Test::unpaired});
  CHECK(all[1]->p.value() == Approx(2 * 2.0 / 12870));
  CHECK(all[2]->p.value() == Approx(1.0 / 495)); // 12 choose 4
  for (std::size_t arm : {1, 2}) CHECK(all[arm]->p.value() >= Approx(all[arm]->smallest_p));
}

TEST_CASE("unpaired, arms with the same numbers by the same seeds are equal", "[statistics]") {
  const std::vector<std::size_t> reference_of{0, 0, 0};
  const auto all = compare(std::vector{reference, reference, values(reference.values, 1)}, reference_of,
                           {.test = Test::unpaired});
  CHECK(all[1]->equal);
  CHECK_FALSE(all[2]->equal); // by other seeds
  CHECK_FALSE(
      compare(std::vector{reference, unclear}, std::vector<std::size_t>{0, 0}, {.test = Test::unpaired})[1]->equal);
}

TEST_CASE("of eight pairs on, the interquartile mean has its interval", "[statistics]") {
  const SeedValues base = values({1.00, 1.10, 1.20, 1.05, 0.95, 1.15, 1.02, 1.08}),
                   arm = values({1.30, 1.41, 1.45, 1.36, 1.24, 1.46, 1.31, 1.50});
  const auto all = compare(std::vector{base, arm, base}, std::vector<std::size_t>{0, 0, 0}, {});
  std::vector<double> differences;
  for (std::size_t i = 0; i < arm.values.size(); ++i) differences.push_back(arm.values[i] - base.values[i]);
  const Estimate expected{interquartile_mean(differences), bca_interval(differences, interquartile_mean)};
  REQUIRE(all[1]->interquartile->interval);
  CHECK(all[1]->interquartile->value == Approx(expected.value));
  CHECK(all[1]->interquartile->interval->low == Approx(expected.interval->low));
  CHECK(all[1]->interquartile->interval->high == Approx(expected.interval->high));
}

TEST_CASE("unpaired, equal arms are the same within a margin", "[statistics]") {
  const SeedValues one = values({1.00, 1.02, 0.99, 1.01, 1.00, 0.98}),
                   other = values({1.01, 1.00, 0.99, 0.98, 1.02, 1.0});
  const auto all = compare(std::vector{one, other, values({1.3, 1.31, 1.29, 1.3, 1.28, 1.32})},
                           std::vector<std::size_t>{0, 0, 0}, {.test = Test::unpaired, .margin = 0.05});
  CHECK(all[1]->answer == Answer::same);
  CHECK(all[2]->answer == Answer::differs);
  CHECK(all[2]->p_equivalence_flips.value() == Approx(1.0));
}

TEST_CASE("unpaired intervals exclude zero just where a difference is found", "[statistics]") {
  for (std::uint64_t which = 0; which < 100; ++which) {
    heed::RandomSource random({which, heed::Stream::test, 0});
    std::vector<SeedValues> arms;
    for (int a = 0; a < 4; ++a) {
      std::vector<double> x;
      for (int i = 0; i < 6; ++i) x.push_back(0.9 * a + random.normal());
      arms.push_back(values(std::move(x)));
    }
    for (const auto& c : compare(arms, std::vector<std::size_t>(4, 0), {.test = Test::unpaired})) {
      if (!c) continue;
      REQUIRE(c->interval);
      const bool found = *c->p <= significance_level;
      if (found) CHECK((c->interval->low >= 0 || c->interval->high <= 0));
      else CHECK((c->interval->low <= 0 && c->interval->high >= 0));
    }
  }
}

TEST_CASE("Welch's interval and Hedges' g", "[statistics]") {
  // SciPy 1.17.1: stats.ttest_ind(a, b, equal_var=False).confidence_interval().
  const std::vector<double> a{1.3, 1.1, 1.7, 1.2, 1.5}, b{0.9, 1.0, 1.25, 0.8};
  const PairedDifference d = unpaired_difference(a, b);
  CHECK(d.mean == Approx(0.3725));
  CHECK(d.interval->low == Approx(0.030380909712155957));
  CHECK(d.interval->high == Approx(0.7146190902878442));
  CHECK(effect_size_unpaired(a, b).value() == Approx(1.4927503647211346));
  CHECK_FALSE(unpaired_difference(a, std::vector<double>{1}).interval);
}

TEST_CASE("two metrics of the same runs are one family", "[statistics]") {
  // Losses and accuracies of one arm: the six sign flips apply to both. By a plain loop over the 64 flips: the larger
  // |t| of the two decides the first p, and the other p is not below it.
  const SeedValues accuracy_of_reference = values({0.80, 0.78, 0.79, 0.81, 0.80, 0.77});
  const SeedValues accuracy_of_unclear = values({0.79, 0.80, 0.76, 0.80, 0.795, 0.75});
  const std::vector<SeedValues> arms{reference, unclear, accuracy_of_reference, accuracy_of_unclear};
  const std::vector<std::size_t> reference_of{0, 0, 2, 2};
  const ComparisonRequest loss{}, accuracy{.higher_is_better = true, .range = 1};
  const auto all = compare_each(arms, reference_of, std::vector<ComparisonRequest>{loss, loss, accuracy, accuracy});

  const auto t = [](const std::vector<double>& d, unsigned flip) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < d.size(); ++i) sum += (flip >> i & 1U) ? -d[i] : d[i];
    const double n = static_cast<double>(d.size()), mean = sum / n;
    for (std::size_t i = 0; i < d.size(); ++i) {
      const double x = (flip >> i & 1U) ? -d[i] : d[i];
      squares += (x - mean) * (x - mean);
    }
    return std::abs(mean) / std::sqrt(squares / (n - 1) / n);
  };
  std::vector<std::vector<double>> d(2);
  for (std::size_t i = 0; i < 6; ++i) {
    d[0].push_back(unclear.values[i] - reference.values[i]);
    d[1].push_back(accuracy_of_unclear.values[i] - accuracy_of_reference.values[i]);
  }
  const std::size_t clearer = t(d[0], 0) > t(d[1], 0) ? 0 : 1, other = 1 - clearer;
  int first = 0, second = 0;
  for (unsigned flip = 0; flip < 64; ++flip) {
    first += std::max(t(d[0], flip), t(d[1], flip)) >= t(d[clearer], 0) - 1e-9;
    second += t(d[other], flip) >= t(d[other], 0) - 1e-9;
  }
  const std::size_t at[] = {1, 3};
  CHECK(*all[at[clearer]]->p == first / 64.0);
  CHECK(*all[at[other]]->p == std::max(first, second) / 64.0);
  // Each by itself seems more certain than it is: corrected, p is larger.
  CHECK(*all[at[clearer]]->p > *all[at[clearer]]->p_flip);
  CHECK(all[3]->improvement->value == Approx(1.0 / 6)); // higher is better: one of six is
  CHECK(all[1]->difference.mean ==
        Approx(d[0][0] / 6 + d[0][1] / 6 + d[0][2] / 6 + d[0][3] / 6 + d[0][4] / 6 + d[0][5] / 6));
}

TEST_CASE("a margin is of the metric that it is given for", "[statistics]") {
  const std::vector<SeedValues> arms{reference, alike, reference, alike};
  const ComparisonRequest with{.margin = 0.05}, without{};
  const auto all = compare_each(arms, std::vector<std::size_t>{0, 0, 2, 2},
                                std::vector<ComparisonRequest>{with, with, without, without});
  CHECK(all[1]->answer == Answer::same);
  CHECK(all[3]->answer == Answer::undecided);
  CHECK_FALSE(all[3]->p_equivalence_flips);
  CHECK_THROWS_AS(compare_each(arms, std::vector<std::size_t>{0, 0, 2, 2},
                               std::vector<ComparisonRequest>{with, with, without, {.margin = 0.1}}),
                  heed::Failed);
  CHECK_THROWS_AS(compare_each(arms, std::vector<std::size_t>{0, 0, 2, 2},
                               std::vector<ComparisonRequest>{with, with, without, {.level = 0.01}}),
                  heed::Failed);
  CHECK_THROWS_AS(compare_each(arms, std::vector<std::size_t>{0, 0, 2, 2}, std::vector<ComparisonRequest>{with}),
                  heed::Failed);
}

TEST_CASE("the correlation of pairs is Pearson's", "[statistics]") {
  // 1, 2, 3, 4 and 2, 1, 4, 3: the products of the deviations add up to 3, their squares to 5 and 5.
  CHECK(*pair_correlation(std::vector<double>{1, 2, 3, 4}, std::vector<double>{2, 1, 4, 3}) == Approx(0.6));
  CHECK(*pair_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{-2e30, -4e30, -6e30}) == Approx(-1));
  CHECK_FALSE(pair_correlation(std::vector<double>{1, 2}, std::vector<double>{2, 1}));
  CHECK_FALSE(pair_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{1, 1, 1}));
  CHECK_THROWS_AS(pair_correlation(std::vector<double>{1, 2, 3}, std::vector<double>{1, 1}), heed::Failed);
  // Variance of the differences: var a + var b - 2 r sd a sd b.
  const auto all = with_reference(std::vector{unclear}, std::nullopt);
  const double r = *all[0]->correlation, a = 0.266208, b = 0.0935414;
  CHECK(*all[0]->difference.standard_deviation == Approx(std::sqrt(a * a + b * b - 2 * r * a * b)).epsilon(1e-4));
}

TEST_CASE("a level of its own decides answers, and how sure intervals are", "[statistics]") {
  const std::vector<SeedValues> arms{reference, worse};
  const std::vector<std::size_t> reference_of{0, 0};
  const auto at = [&](double level) { return *compare(arms, reference_of, {.margin = 1.0, .level = level})[1]; };
  CHECK(at(0.0354).level == 0.0354);
  CHECK(at(0.0354).difference.confidence == Approx(0.9646));
  CHECK(at(0.0354).interval);
  CHECK(at(0.0354).p == 0.03125);
  // Student's interval by SciPy: stats.t.ppf((1 + 0.9646) / 2, 5) = 2.8601 standard errors to either side.
  const PairedDifference d = at(0.0354).difference;
  CHECK((d.interval->high - d.mean) / (*d.standard_deviation / std::sqrt(6.0)) ==
        Approx(2.860156217150967).epsilon(1e-4));
  // With six seeds, no p of the flips is below 0.031, and no one-sided p is below 0.016.
  CHECK(at(0.02).answer == Answer::same);
  CHECK(at(0.015).answer == Answer::underpowered);
  CHECK(at(0.015).seeds_needed == 8);
  CHECK_FALSE(at(0.015).interval);
  const auto unpaired = [&](double level) {
    return *compare(arms, reference_of, {.test = Test::unpaired, .level = level})[1];
  };
  CHECK(unpaired(0.005).answer == Answer::differs); // 2 of 924
  CHECK(unpaired(0.002).answer == Answer::underpowered);
  CHECK(unpaired(0.002).seeds_needed == 7);
}
