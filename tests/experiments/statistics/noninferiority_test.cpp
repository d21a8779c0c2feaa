#include "experiments/statistics/noninferiority.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/power.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

using namespace heed;
using namespace heed::statistics;

namespace {

using Values = std::vector<double>;

constexpr double infinite = std::numeric_limits<double>::infinity();

double mean_of(const Values& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum / static_cast<double>(x.size());
}

/// Student's t by its definition.
double t_in_loops(const Values& x) {
  const double n = static_cast<double>(x.size()), centre = mean_of(x);
  double squares = 0;
  for (const double value : x) squares += (value - centre) * (value - centre);
  if (squares < 1e-20) return centre > 1e-12 ? infinite : centre < -1e-12 ? -infinite : 0;
  return centre / std::sqrt(squares / (n - 1) / n);
}

Values flipped(Values x, std::size_t flip) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (flip >> i & 1U) x[i] = -x[i];
  return x;
}

Values plus(Values x, double by) {
  for (double& value : x) value += by;
  return x;
}

bool at_least(double a, double b) { return a >= b || std::abs(a - b) <= 1e-9 * (1 + std::abs(b)); }

/// Step-down max-t over all flips in plain loops; all arms have the same seeds.
Values naive_step_down(const std::vector<Values>& arms) {
  std::vector<std::size_t> order(arms.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return t_in_loops(arms[a]) > t_in_loops(arms[b]); });
  const std::size_t flips = std::size_t{1} << arms.front().size();
  Values p(arms.size());
  double before = 0;
  for (std::size_t place = 0; place < order.size(); ++place) {
    std::size_t reached = 0;
    for (std::size_t flip = 0; flip < flips; ++flip) {
      double largest = -infinite;
      for (std::size_t later = place; later < order.size(); ++later)
        largest = std::max(largest, t_in_loops(flipped(arms[order[later]], flip)));
      reached += at_least(largest, t_in_loops(arms[order[place]]));
    }
    p[order[place]] = before = std::max(before, static_cast<double>(reached) / static_cast<double>(flips));
  }
  return p;
}

/// t of a flip of centred differences, whose variance counts as at least a fraction of their own.
double t_of_centred(const Values& x, std::size_t flip, std::size_t arms, double level) {
  const Values centred = plus(x, -mean_of(x));
  const double n = static_cast<double>(x.size()),
               q = student_quantile(n - 1, 1 - level / (2 * static_cast<double>(arms)));
  double sum = 0, squares = 0;
  for (const double value : flipped(centred, flip)) {
    sum += value;
    squares += value * value;
  }
  const double c = sum * sum / (n * squares), least = std::min(0.25, 0.7 * (n - 1) / (q * q));
  return (sum < 0 ? -1 : 1) * std::sqrt((n - 1) * c / std::max(1 - c, least));
}

/// The joint one-sided p of "the mean of the arm `which` is at most theta".
double naive_joint_p(const std::vector<Values>& arms, std::size_t which, double theta, double level) {
  const std::size_t flips = std::size_t{1} << arms.front().size();
  const Values moved = plus(arms[which], -theta);
  std::size_t reached = 0;
  for (std::size_t flip = 0; flip < flips; ++flip) {
    double largest = t_in_loops(flipped(moved, flip));
    for (std::size_t other = 0; other < arms.size(); ++other)
      if (other != which) largest = std::max(largest, t_of_centred(arms[other], flip, arms.size(), level));
    reached += at_least(largest, t_in_loops(moved));
  }
  return static_cast<double>(reached) / static_cast<double>(flips);
}

/// The least theta below the mean that the test does not reject, by bisection.
double naive_bound(const std::vector<Values>& arms, std::size_t which, double level) {
  double rejected = mean_of(arms[which]) - 1000, open = mean_of(arms[which]);
  for (int i = 0; i < 60; ++i) {
    const double middle = (rejected + open) / 2;
    (naive_joint_p(arms, which, middle, level) > level ? open : rejected) = middle;
  }
  return open;
}

std::vector<Values> drawn(std::uint64_t number, std::size_t arms, std::size_t seeds, double centre) {
  RandomSource random({77, Stream::test, number});
  std::vector<Values> out(arms);
  for (Values& arm : out)
    for (std::size_t s = 0; s < seeds; ++s) arm.push_back(centre + random.normal());
  return out;
}

std::vector<SeedDifferences> as_differences(const std::vector<Values>& arms) {
  std::vector<SeedDifferences> out;
  for (const Values& arm : arms) {
    SeedDifferences& of = out.emplace_back();
    for (std::size_t s = 0; s < arm.size(); ++s) of.seeds.push_back(static_cast<std::int64_t>(s));
    of.values = arm;
  }
  return out;
}

NoninferiorityTests tested(const std::vector<Values>& arms, double margin, double level = 0.05) {
  return noninferiority_by_flips(as_differences(arms), std::vector<double>(arms.size(), margin), level);
}

SeedValues runs(Values values) {
  SeedValues out{{}, std::move(values)};
  for (std::size_t s = 0; s < out.values.size(); ++s) out.seeds.push_back(static_cast<std::int64_t>(s));
  return out;
}

/// One arm against a reference whose runs are all `base`.
Comparison asked(const Values& arm, ComparisonRequest request, double base = 0) {
  request.question = Question::not_worse;
  const std::vector<SeedValues> all{runs(Values(arm.size(), base)), runs(arm)};
  return *compare(all, std::vector<std::size_t>{0, 0}, request)[1];
}

} // namespace

TEST_CASE("p of not worse, of better and of worse are those of all flips in plain loops", "[statistics]") {
  for (std::uint64_t number = 0; number < 6; ++number)
    for (const std::size_t arms : {1, 3})
      for (const double centre : {-1.5, 0.0, 0.7}) {
        const std::vector<Values> values = drawn(number, arms, 6, centre);
        const double margin = 0.8;
        std::vector<Values> above, below;
        for (const Values& arm : values) {
          above.push_back(plus(arm, margin));
          Values turned = plus(arm, margin);
          for (double& x : turned) x = -x;
          below.push_back(std::move(turned));
        }
        const NoninferiorityTests tests = tested(values, margin);
        const Values p = naive_step_down(above), p_worse = naive_step_down(below);
        for (std::size_t i = 0; i < arms; ++i) {
          INFO("table " << number << ", arm " << i << " of " << arms << ", centre " << centre);
          CHECK(tests.p[i] == Approx(p[i]));
          CHECK(tests.p_worse[i].value() == Approx(p_worse[i]));
          CHECK(tests.p_better[i] == Approx(std::max(p[i], naive_joint_p(values, i, 0, 0.05))));
        }
      }
}

TEST_CASE("a bound is the least theta that the joint one-sided test keeps", "[statistics]") {
  for (std::uint64_t number = 0; number < 4; ++number)
    for (const std::size_t arms : {1, 3})
      for (const std::size_t seeds : {5, 6}) {
        const std::vector<Values> values = drawn(number, arms, seeds, 0.3);
        const LowerBounds bounds = lower_bounds(as_differences(values));
        for (std::size_t i = 0; i < arms; ++i) {
          INFO("table " << number << ", arm " << i << " of " << arms << ", seeds " << seeds);
          CHECK(bounds.bounds[i].value() == Approx(naive_bound(values, i, 0.05)).margin(1e-9));
          CHECK(bounds.p[i] == Approx(naive_joint_p(values, i, 0, 0.05)));
        }
      }
}

TEST_CASE("one arm's bound with five and with six seeds is among the means of the smallest differences",
          "[statistics]") {
  // 5 %: of 32 flips the observed one only, so the bound is the smallest mean of a flipped set: the smallest value.
  CHECK(lower_bounds(as_differences({{0.5, 0.1, 0.9, 0.3, 0.7}})).bounds[0].value() == Approx(0.1));
  // Of 64 flips three: the fourth smallest mean of a set. The sets {0.1}, {0.1, 0.2}, {0.2} come first after the empty
  // one.
  CHECK(lower_bounds(as_differences({{0.1, 0.2, 0.9, 0.6, 0.7, 0.8}})).bounds[0].value() == Approx(0.2));
  CHECK_FALSE(lower_bounds(as_differences({{0.5, 0.1, 0.9, 0.3}})).bounds[0]);
}

TEST_CASE("arms with their own seeds have the p of their own flips", "[statistics]") {
  std::vector<SeedDifferences> arms = as_differences(drawn(3, 2, 6, 0.2));
  for (std::int64_t& seed : arms[1].seeds) seed += 6;
  const NoninferiorityTests together = noninferiority_by_flips(arms, std::vector<double>{1, 1});
  for (std::size_t i = 0; i < 2; ++i) {
    const NoninferiorityTests one = noninferiority_by_flips(std::span(arms).subspan(i, 1), std::vector<double>{1});
    CHECK(together.p[i] >= one.p[0]);
    CHECK(together.bound[i].value() <= one.bound[0].value());
  }
}

TEST_CASE("bounds agree with p: within the margin exactly if not worse, above 0 exactly if better", "[statistics]") {
  std::size_t better = 0, not_worse = 0, moved = 0;
  for (std::uint64_t number = 0; number < 120; ++number)
    for (const std::size_t seeds : {5, 6, 7}) {
      const double margin = 0.9;
      const std::vector<Values> values = drawn(number, 1 + number % 4, seeds, number % 3 == 0 ? 0.9 : 0.1);
      const NoninferiorityTests tests = tested(values, margin);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double bound = tests.bound[i].value();
        CHECK(tests.p_better[i] >= tests.p[i]);
        CHECK((tests.p_better[i] <= 0.05) == (bound > 0));
        CHECK((tests.p[i] <= 0.05 ? bound >= -margin : bound <= -margin));
        CHECK_FALSE((tests.p[i] <= 0.05 && tests.p_worse[i].value() <= 0.05));
        better += bound > 0;
        not_worse += tests.p[i] <= 0.05;
        moved += bound == -margin;
      }
    }
  CHECK(better > 20);
  CHECK(not_worse > better + 50);
  CHECK(moved > 0);
}

TEST_CASE("answers of one arm: better, not worse, worse by more than the margin, undecided", "[statistics]") {
  ComparisonRequest request{.higher_is_better = true, .margin = 0.5};
  const Values around{-0.1, 0.2, 0.05, -0.05, 0.12, 0.01};
  CHECK(asked(plus(around, 0.6), request).answer == Answer::better);
  CHECK(asked(around, request).answer == Answer::not_worse);
  CHECK(asked(plus(around, -0.5), request).answer == Answer::undecided);
  const Comparison worse = asked(plus(around, -1), request);
  CHECK(worse.answer == Answer::worse);
  CHECK(worse.noninferiority->p_worse.value() == Approx(1 / 64.0));
  CHECK(worse.interval->low < -0.5);
  CHECK(std::isinf(worse.interval->high));

  // For a metric that should be low, the same differences with the other sign.
  request.higher_is_better = false;
  const Comparison low = asked(plus(around, 1), request);
  CHECK(low.answer == Answer::worse);
  CHECK(std::isinf(low.interval->low));
  CHECK(asked(plus(around, -0.6), request).answer == Answer::better);
  const Comparison middle = asked(around, request);
  CHECK(middle.answer == Answer::not_worse);
  CHECK(middle.interval->high == Approx(-middle.noninferiority->bound.value()));
  CHECK(middle.p.value() == Approx(1 / 64.0));
}

TEST_CASE("five pairs can show that an arm is not worse, and four can't", "[statistics]") {
  const ComparisonRequest request{.higher_is_better = true, .margin = 0.5};
  const Comparison five = asked({-0.1, 0.2, 0.05, -0.05, 0.1}, request);
  CHECK(five.answer == Answer::not_worse);
  CHECK(five.p.value() == Approx(1 / 32.0));
  CHECK(five.smallest_p == Approx(1 / 32.0));
  const Comparison four = asked({-0.1, 0.2, 0.05, -0.05}, request);
  CHECK(four.answer == Answer::underpowered);
  CHECK(four.smallest_p == Approx(1 / 16.0));
  CHECK(four.seeds_needed == 5);
  CHECK_FALSE(four.interval);
  // At a look's level, the smallest p decides.
  ComparisonRequest look = request;
  look.level = 0.03;
  CHECK(asked({-0.1, 0.2, 0.05, -0.05, 0.1}, look).answer == Answer::underpowered);
  look.level = 0.0354;
  CHECK(asked({-0.1, 0.2, 0.05, -0.05, 0.1}, look).answer == Answer::not_worse);
}

TEST_CASE("bounds are within the metric's range, and equal differences have none", "[statistics]") {
  ComparisonRequest request{.higher_is_better = true, .margin = 0.5, .range = 1};
  CHECK(asked({-0.9, 0.2, 0.9, -0.8, 0.7, -0.9}, request).interval->low >= -1);
  const Comparison constant = asked({0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, request);
  CHECK(constant.constant);
  CHECK(constant.answer == Answer::better);
  CHECK_FALSE(constant.interval);
  CHECK(asked(Values(6, -0.25), request).answer == Answer::not_worse);
  CHECK(asked(Values(6, -0.75), request).answer == Answer::worse);
  CHECK(asked(Values(6, -0.5), request).answer == Answer::undecided); // at the margin itself
  CHECK(asked(Values(6, 0.0), request).equal);
}

TEST_CASE("further metrics and interactions are a family of their own", "[statistics]") {
  std::vector<SeedValues> all;
  std::vector<std::size_t> references;
  std::vector<ComparisonRequest> requests;
  const auto add = [&](Values values, std::size_t reference, Question question) {
    all.push_back(runs(std::move(values)));
    references.push_back(reference);
    requests.push_back({.higher_is_better = true,
                        .margin = question == Question::not_worse ? std::optional(0.5) : std::nullopt,
                        .question = question});
  };
  const std::vector<Values> noise = drawn(5, 4, 7, 0);
  add(Values(7, 0.0), 0, Question::not_worse);
  add(noise[0], 0, Question::not_worse);
  add(noise[1], 0, Question::not_worse);
  add(Values(7, 0.0), 3, Question::difference);
  add(noise[2], 3, Question::difference);
  add(noise[3], 3, Question::difference);
  const auto compared = compare_each(all, references, requests);
  const NoninferiorityTests tests = tested({noise[0], noise[1]}, 0.5);
  const std::vector<double> differ = step_down_flips(as_differences({noise[2], noise[3]})).p;
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(compared[1 + i]->p.value() == Approx(tests.p[i]));
    CHECK(compared[1 + i]->family == 2);
    CHECK(compared[4 + i]->p.value() == Approx(differ[i]));
    CHECK_FALSE(compared[4 + i]->noninferiority);
  }
  requests[0].question = Question::difference;
  CHECK_THROWS_AS(compare_each(all, references, requests), heed::Failed);
  requests[0].question = Question::not_worse;
  requests[1].margin.reset();
  CHECK_THROWS_AS(compare_each(all, references, requests), heed::Failed);
}

TEST_CASE("unpaired arms are tested by permutations of the arm moved by the margin", "[statistics]") {
  const Values reference{0.1, -0.2, 0.05, 0.15, -0.1}, arm{0.0, 0.1, -0.15, 0.12, 0.02};
  ComparisonRequest request{
      .test = Test::unpaired, .higher_is_better = true, .margin = 0.4, .question = Question::not_worse};
  const std::vector<SeedValues> all{runs(reference), runs(arm), runs(plus(arm, -0.9))};
  const auto compared = compare(all, std::vector<std::size_t>{0, 0, 0}, request);
  // The permutations in plain loops: which 5 of the 10 runs are the arm's.
  Values pool = plus(arm, 0.4);
  pool.insert(pool.end(), reference.begin(), reference.end());
  const double total = 10 * mean_of(pool), own = 5 * mean_of(plus(arm, 0.4));
  std::size_t reached = 0, count = 0;
  for (unsigned chosen = 0; chosen < 1024; ++chosen) {
    double sum = 0;
    int size = 0;
    for (std::size_t i = 0; i < 10; ++i)
      if (chosen >> i & 1U) {
        sum += pool[i];
        ++size;
      }
    if (size != 5) continue;
    ++count;
    reached += 2 * sum - total >= 2 * own - total - 1e-12;
  }
  const double p = static_cast<double>(reached) / static_cast<double>(count);
  // Holm: the smaller p is multiplied by two. Welch's p may be larger than that of the permutations.
  CHECK(compared[1]->p.value() >= 2 * p * (1 - 1e-9));
  CHECK(compared[1]->p.value() == Approx(2 * permutation_levels(plus(arm, 0.4), reference).p_above));
  CHECK(compared[1]->answer == Answer::not_worse);
  CHECK(compared[2]->answer == Answer::worse);
  CHECK(compared[1]->noninferiority->bound.value() >= -0.4);
  CHECK(compared[2]->noninferiority->bound.value() < -0.4);
  CHECK(compared[1]->interval->low == compared[1]->noninferiority->bound);

  // Turned around, for a metric that should be low.
  std::vector<SeedValues> turned = all;
  for (SeedValues& of : turned)
    for (double& x : of.values) x = -x;
  request.higher_is_better = false;
  const auto low = compare(turned, std::vector<std::size_t>{0, 0, 0}, request);
  for (const std::size_t i : {1, 2}) {
    CHECK(low[i]->answer == compared[i]->answer);
    CHECK(low[i]->p.value() == Approx(*compared[i]->p));
    CHECK(low[i]->interval->high == Approx(-compared[i]->interval->low));
  }
}

TEST_CASE("with censored runs, ranks find an arm better or leave it undecided", "[statistics]") {
  for (const Test test : {Test::paired, Test::unpaired}) {
    ComparisonRequest request{.test = test, .margin = 1000.0, .censored_at = 100.0, .question = Question::not_worse};
    const auto ask = [&](const Values& reference, const Values& arm) {
      const std::vector<SeedValues> all{runs(reference), runs(arm)};
      return *compare(all, std::vector<std::size_t>{0, 0}, request)[1];
    };
    const Values slow{100, 90, 100, 95, 92, 100};
    const Comparison fast = ask(slow, {50, 52, 48, 55, 51, 49});
    CHECK(fast.answer == Answer::better);
    CHECK(fast.noninferiority->only_better);
    CHECK_FALSE(fast.interval);
    CHECK_FALSE(fast.noninferiority->p_worse);
    // Nothing is known of a margin, however wide it is.
    CHECK(ask(slow, {100, 92, 91, 100, 95, 93}).answer == Answer::undecided);
    CHECK(ask({50, 52, 48, 55, 51, 49}, slow).answer == Answer::undecided);
  }
}

TEST_CASE("the p of one arm only is one-sided", "[statistics]") {
  const SeedValues arm = runs({3, 4, 5, 6, 7}), reference = runs({1, 2, 3, 4, 4.5});
  CHECK(one_sided_p(arm, reference, Test::paired).value() == Approx(1 / 32.0));
  CHECK(one_sided_p(reference, arm, Test::paired).value() == Approx(1));
  CHECK(one_sided_p(arm, reference, Test::unpaired).value() < 0.05);
  CHECK(one_sided_p(reference, arm, Test::unpaired).value() > 0.95);
  CHECK_FALSE(one_sided_p(arm, {{9}, {1.0}}, Test::paired));
  CHECK_FALSE(one_sided_p(arm, {}, Test::unpaired));
}

TEST_CASE("margins are checked", "[statistics]") {
  const auto arms = as_differences({{0.1, 0.2, 0.3, 0.1, 0.2}});
  CHECK_THROWS_AS(noninferiority_by_flips(arms, std::vector<double>{-1}), heed::Failed);
  CHECK_THROWS_AS(noninferiority_by_flips(arms, std::vector<double>{}), heed::Failed);
  CHECK(noninferiority_by_flips({}, {}).p.empty());
}

TEST_CASE("the power to show an arm not worse exceeds that to show it the same", "[statistics]") {
  // Figures of an independent simulation: 64 % against 35, and with five arms 45 against 10.
  CHECK(paired_noninferiority_of(1, {6, 1}) == Approx(0.64).margin(0.04));
  CHECK(paired_noninferiority_of(1, {6, 5}) == Approx(0.45).margin(0.06));
  CHECK(paired_sameness_of(1, {6, 1}) == Approx(0.35).margin(0.04));
  CHECK(paired_noninferiority_of(1, {4, 1}) == 0);
  CHECK(paired_noninferiority_of(2, {5, 1}) > 0.5);
  CHECK(paired_noninferiority_of(1, {30, 5}) > 0.95);
  CHECK(unpaired_noninferiority_of(2, {6, 1}) > unpaired_sameness_of(2, {6, 1}));
  CHECK(unpaired_noninferiority_of(2, {12, 3}) > 0.9);
  CHECK(unpaired_noninferiority_of(2, {3, 4}) == 0);
}
