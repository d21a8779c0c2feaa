#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/flips.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/statistics/seeded.hpp"
#include "tests/experiments/statistics/sleep_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

using namespace heed;
using namespace heed::statistics;

namespace {

/// mean / (sd / sqrt(n)), by the textbook formula.
double absolute_t(const std::vector<double>& d) {
  double mean = 0, squares = 0;
  const double n = static_cast<double>(d.size());
  for (const double x : d) mean += x / n;
  for (const double x : d) squares += (x - mean) * (x - mean);
  const double error = std::sqrt(squares / (n - 1) / n);
  if (error < 1e-13 * std::abs(mean)) return std::numeric_limits<double>::infinity();
  return error == 0 ? 0 : std::abs(mean) / error;
}

/// The step-down max-|t| test in plain loops: every flip of the seeds, and every arm's t from the flipped values.
std::vector<double> brute_force(const std::vector<SeedDifferences>& arms) {
  std::set<std::int64_t> all;
  for (const auto& a : arms) all.insert(a.seeds.begin(), a.seeds.end());
  const std::vector<std::int64_t> seeds(all.begin(), all.end());
  std::vector<double> observed, p(arms.size());
  for (const auto& a : arms) observed.push_back(absolute_t(a.values));
  std::vector<std::size_t> left(arms.size());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
  double before = 0;
  while (!left.empty()) {
    const std::size_t best = *std::max_element(left.begin(), left.end(),
                                               [&](auto a, auto b) { return observed[a] < observed[b]; });
    double reached = 0;
    for (std::size_t flip = 0; flip < std::size_t{1} << seeds.size(); ++flip) {
      double largest = 0;
      for (const std::size_t i : left) {
        std::vector<double> flipped = arms[i].values;
        for (std::size_t k = 0; k < flipped.size(); ++k) {
          const auto row = std::find(seeds.begin(), seeds.end(), arms[i].seeds[k]) - seeds.begin();
          if (flip >> row & 1U) flipped[k] = -flipped[k];
        }
        largest = std::max(largest, absolute_t(flipped));
      }
      if (largest >= observed[best] * (1 - 1e-9)) ++reached;
    }
    before = std::max(before, reached / static_cast<double>(std::size_t{1} << seeds.size()));
    p[best] = before;
    left.erase(std::find(left.begin(), left.end(), best));
  }
  return p;
}

void check_brute_force(const std::vector<SeedDifferences>& arms) {
  const FlipTest test = step_down_flips(arms);
  const std::vector<double> expected = brute_force(arms);
  CHECK(test.exact);
  for (std::size_t i = 0; i < arms.size(); ++i) CHECK(test.p[i] == Approx(expected[i]).margin(1e-12));
}

/// `arms` differences from one reference run of each seed, all of them pure noise.
std::vector<SeedDifferences> noise(std::size_t arms, std::size_t seeds, std::uint64_t which, bool skewed) {
  RandomSource random({which, Stream::test, 0});
  auto draw = [&] { return skewed ? -std::log1p(-random.uniform()) : random.normal(); };
  std::vector<double> reference;
  for (std::size_t i = 0; i < seeds; ++i) reference.push_back(draw());
  std::vector<SeedDifferences> out;
  for (std::size_t k = 0; k < arms; ++k) {
    std::vector<double> d;
    for (std::size_t i = 0; i < seeds; ++i) d.push_back(draw() - reference[i]);
    out.push_back(arm(std::move(d)));
  }
  return out;
}

} // namespace

TEST_CASE("one arm has the sign-flip test's p", "[statistics]") {
  // SciPy 1.17.1: permutation_test((d, zeros), mean of the difference, permutation_type="samples").pvalue = 0.00390625,
  // with a zero among the differences, whose sign makes none.
  const FlipTest test = step_down_flips(std::vector{arm(sleep_differences)});
  CHECK(test.p[0] == 0.00390625);
  CHECK(test.exact);
  CHECK(test.flips == 1024);
}

TEST_CASE("differences of one sign reach the floor, 2^(1 - n)", "[statistics]") {
  CHECK(step_down_flips(std::vector{arm({1, 2, 1.5, 1.2, 1.7, 0.8})}).p[0] == 0.03125);
  CHECK(step_down_flips(std::vector{arm({-1, -2})}).p[0] == 0.5);
  CHECK(step_down_flips(std::vector{arm({-1})}).p[0] == 1.0);
}

TEST_CASE("the floor does not grow with the number of arms", "[statistics]") {
  // Arms with the same differences except for scale: every |t| is equal.
  std::vector<SeedDifferences> arms;
  for (int k = 1; k <= 12; ++k) arms.push_back(arm({1.0 * k, 2.0 * k, 1.5 * k, 1.2 * k, 1.7 * k, 0.8 * k}));
  for (const double p : step_down_flips(arms).p) CHECK(p == 0.03125);
}

TEST_CASE("step-down max-|t| is what plain loops over all flips give", "[statistics]") {
  check_brute_force(noise(4, 7, 1, false));
  check_brute_force(noise(6, 6, 2, true));
  std::vector<SeedDifferences> shifted = noise(5, 8, 3, false);
  for (double& d : shifted[2].values) d += 3;
  for (double& d : shifted[4].values) d -= 1.5;
  check_brute_force(shifted);
}

TEST_CASE("arms may have other seeds than their neighbours", "[statistics]") {
  std::vector<SeedDifferences> arms{arm({0.3, 0.2, 0.4, 0.1, 0.3, 0.2, 0.35}), arm({0.5, -0.1, 0.3, 0.2, 0.4, 0.1}, 2),
                                    arm({-0.2, 0.1, -0.4, -0.3, -0.3, -0.1}, 1)};
  std::swap(arms[1].seeds[0], arms[1].seeds[4]); // not in order
  std::swap(arms[1].values[0], arms[1].values[4]);
  check_brute_force(arms);
}

TEST_CASE("ties, no spread and no difference at all", "[statistics]") {
  const std::vector<SeedDifferences> arms{arm({1, 1, -1, 1, -1, 1}), arm({0.3, 0.3, 0.3, 0.3, 0.3, 0.3}),
                                          arm({0, 0, 0, 0, 0, 0}), arm({1, 1, 1, 1, 1, 0})};
  check_brute_force(arms);
  CHECK(step_down_flips(arms).p[2] == 1.0); // t = 0
}

TEST_CASE("an arm reaches the floor where no other could be as clear with other signs", "[statistics]") {
  const auto clear = arm({0.3, 0.3, 0.3, 0.3, 0.3, 0.3}); // an infinite |t|
  const auto noise = arm({0.1, -0.2, 0.3, -0.1, 0.2, 0.15});
  CHECK(step_down_flips(std::vector{clear, noise}).p[0] == 0.03125);
  const auto turned = arm({1, 1, -1, 1, -1, 1}); // |t| infinite in two flips of 64
  CHECK(step_down_flips(std::vector{clear, turned}).p[0] == 0.0625);
}

TEST_CASE("an arm with one difference has p = 1, and takes nothing from the others", "[statistics]") {
  const auto full = arm({0.3, 0.2, 0.4, 0.1, 0.3, 0.2});
  const FlipTest test = step_down_flips(std::vector{full, arm({5})});
  CHECK(test.p[0] == 0.03125);
  CHECK(test.p[1] == 1.0);
}

TEST_CASE("beyond twenty seeds a sample of the flips is taken, and said to be one", "[statistics]") {
  std::vector<double> d;
  for (int i = 0; i < 21; ++i) d.push_back(i % 3 == 0 ? -1.0 - 0.01 * i : 1.0 + 0.01 * i);
  const FlipTest sampled = step_down_flips(std::vector{arm(d)});
  CHECK_FALSE(sampled.exact);
  CHECK(sampled.flips == 100'000);
  CHECK(sampled.p == step_down_flips(std::vector{arm(d)}).p);
  // All 2^21 flips, in a loop.
  double sum = 0, reached = 0;
  for (const double x : d) sum += x;
  for (std::uint32_t flip = 0; flip < 1U << 21U; ++flip) {
    double flipped = 0;
    for (std::uint32_t i = 0; i < 21; ++i) flipped += flip >> i & 1U ? -d[i] : d[i];
    if (std::abs(flipped) >= std::abs(sum) - 1e-9) ++reached;
  }
  const double p = reached / (1U << 21U);
  CHECK(sampled.p[0] == Approx(p).margin(4 * std::sqrt(p * (1 - p) / 100'000)));
  d.pop_back();
  CHECK(step_down_flips(std::vector{arm(d)}).exact);
}

TEST_CASE("many seeds draw signs that have nothing to do with each other", "[statistics]") {
  // 200 seeds need two blocks of random bits; if signs repeated after 128 seeds, they would cancel here. Under fair
  // signs, |sum| >= 20 has probability 0.17896 by the binomial distribution.
  std::vector<double> d;
  for (int i = 0; i < 200; ++i) d.push_back(i < 110 ? 1.0 : -1.0);
  CHECK(step_down_flips(std::vector{arm(d)}).p[0] == Approx(0.17896).margin(0.005));
}

TEST_CASE("arms without a difference are called different in 5 % of sweeps at most", "[statistics]") {
  // 2000 sweeps of pure noise: at most 5 % plus three standard errors may find a difference. The rate must not be far
  // below 5 %, either, because a test that never finds anything also controls its level.
  constexpr int sweeps = 2000;
  const double most = 0.05 + 3 * std::sqrt(0.05 * 0.95 / sweeps);
  for (const bool skewed : {false, true}) {
    int wrong = 0;
    for (std::uint64_t i = 0; i < sweeps; ++i) {
      const FlipTest test = step_down_flips(noise(5, 8, 1000 + i, skewed));
      wrong += *std::min_element(test.p.begin(), test.p.end()) <= 0.05;
    }
    INFO((skewed ? "exponential" : "normal") << " noise: " << wrong << " of " << sweeps);
    CHECK(wrong <= most * sweeps);
    CHECK(wrong >= 0.02 * sweeps);
  }
}

TEST_CASE("arms that do differ don't make the others seem to", "[statistics]") {
  constexpr int sweeps = 2000;
  int wrong = 0, found = 0;
  for (std::uint64_t i = 0; i < sweeps; ++i) {
    std::vector<SeedDifferences> arms = noise(5, 8, 9000 + i, false);
    for (double& d : arms[0].values) d += 4;
    for (double& d : arms[3].values) d -= 4;
    const FlipTest test = step_down_flips(arms);
    wrong += std::min({test.p[1], test.p[2], test.p[4]}) <= 0.05;
    found += test.p[0] <= 0.05;
  }
  INFO(wrong << " wrong, " << found << " found of " << sweeps);
  CHECK(wrong <= (0.05 + 3 * std::sqrt(0.05 * 0.95 / sweeps)) * sweeps);
  CHECK(found >= 0.9 * sweeps);
}

TEST_CASE("flips need finite differences, one for each seed", "[statistics]") {
  CHECK_THROWS_AS(step_down_flips(std::vector{arm({})}), Failed);
  CHECK_THROWS_AS(step_down_flips(std::vector{arm({1, std::nan("")})}), Failed);
  CHECK(step_down_flips({}).p.empty());
}

TEST_CASE("differences that can't be squared are compared like others", "[statistics]") {
  // A run that diverged: the other arm, worse in all six seeds, keeps its p.
  const std::vector<double> ordinary{0.85, 0.8, 0.9, 0.84, 0.86, 0.85};
  const SeedDifferences diverged = arm({1e304, 0.1, -0.2, 0.3, 0.1, -0.1}), worse = arm(ordinary);
  const FlipTest both = step_down_flips(std::vector{diverged, worse});
  CHECK(both.p[1] == 2.0 / 64);
  std::vector<double> small = ordinary, large = ordinary;
  for (double& x : small) x *= 1e-300;
  for (double& x : large) x *= 1e300;
  for (const auto& scaled : {small, large})
    CHECK(step_down_flips(std::vector{arm(scaled), arm({0.1, -0.2, 0.3, 0.1, 0.1, -0.1})}).p ==
          step_down_flips(std::vector{worse, arm({0.1, -0.2, 0.3, 0.1, 0.1, -0.1})}).p);
}

TEST_CASE("on one side, only differences above zero count, and the mirror image does not", "[statistics]") {
  const SeedDifferences up = arm({1, 2, 3, 1, 2, 3}), down = arm({-1, -2, -3, -1, -2, -3});
  CHECK(step_down_flips(std::vector{up}, Sides::above).p.front() == 1.0 / 64);
  CHECK(step_down_flips(std::vector{up}).p.front() == 2.0 / 64);
  CHECK(step_down_flips(std::vector{down}, Sides::above).p.front() == 1.0);
}

TEST_CASE("sampled flips add up seed after seed, to the bit", "[statistics][flips]") {
  // The signs are the bits of Philox's blocks by flip, 128 seeds for each block; the first flip changes no sign.
  constexpr std::uint64_t stream_seed = 0x6865'6564'666c'6970;
  for (const auto& [seeds, columns] : {std::pair{21, 1}, {128, 3}, {129, 2}, {300, 9}}) {
    INFO(seeds << " x " << columns);
    const auto width = static_cast<std::size_t>(columns), height = static_cast<std::size_t>(seeds);
    std::vector<double> values;
    std::vector<SeedValue> stored; // not the zeros, which are in every fifth seed
    for (std::size_t i = 0; i < height * width; ++i) {
      const bool is_zero = i == 0 || i / width % 5 == 3;
      values.push_back(is_zero ? 0.0
                               : std::sin(static_cast<double>(i)) * std::pow(10.0, static_cast<double>(i % 7) - 3));
      if (!is_zero) stored.push_back({i / width, i % width, values.back()});
    }
    std::ranges::reverse(stored); // the order says nothing
    const SeedRows rows(height, width, stored);
    std::uint64_t flip = 0, wrong = 0;
    const std::uint64_t count = each_flip(rows, Flips::sampled, [&](const double* sums) {
      if (flip % 997 < 20 || flip > random_flips - 20)
        for (std::size_t c = 0; c < rows.columns(); ++c) {
          double sum = 0;
          for (std::size_t s = 0; s < rows.seeds(); ++s) {
            const RandomBlock bits = random_block({stream_seed, Stream::sampling, flip}, s / 128);
            const bool turned = flip > 0 && (bits[s / 32 % 4] >> s % 32 & 1U) != 0;
            const double value = values[s * width + c];
            sum = turned ? sum - value : sum + value;
          }
          wrong += sum != sums[c] || std::signbit(sum) != std::signbit(sums[c]);
        }
      ++flip;
    });
    CHECK(wrong == 0);
    CHECK(flip == random_flips + 1);
    CHECK(count == random_flips + 1);
  }
}

TEST_CASE("each arm's p by itself is that of its own test, whatever its neighbours", "[statistics]") {
  RandomSource random({11, Stream::test, 0});
  const auto drawn = [&](std::size_t n) {
    std::vector<double> out;
    for (std::size_t i = 0; i < n; ++i) out.push_back(static_cast<double>(random.below(1000)) / 500 - 0.9);
    return out;
  };
  std::vector<SeedDifferences> arms;
  for (int i = 0; i < 18; ++i) arms.push_back(arm(drawn(9))); // more arms than one pass over the flips handles
  arms.push_back(arm(drawn(9), 3));
  arms.push_back(arm(drawn(1)));
  arms.push_back(arm(drawn(most_exact_seeds + 3)));
  arms.push_back(arm(drawn(most_exact_seeds + 3)));
  std::ranges::reverse(arms.back().seeds); // the same seeds in another order
  arms.push_back(arm({0, 0, 0, 0}));
  const std::vector<double> p = flips_of_each(arms);
  REQUIRE(p.size() == arms.size());
  for (std::size_t i = 0; i < arms.size(); ++i) {
    CAPTURE(i);
    CHECK(p[i] == step_down_flips(std::vector{arms[i]}).p.front());
  }
  CHECK(p[0] == Approx(brute_force({arms[0]})[0]));
  CHECK(flips_of_each({}).empty());
  CHECK_THROWS_AS(flips_of_each(std::vector{arm({1, std::nan("")})}), Failed);
}
