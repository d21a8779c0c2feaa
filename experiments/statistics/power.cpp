#include "experiments/statistics/power.hpp"

#include "autograd/error.hpp"
#include "autograd/rng.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/flip_intervals.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <numbers>
#include <numeric>
#include <vector>

namespace heed::statistics {

namespace {

constexpr std::size_t most_seeds = 10'000'000;

void check_fraction(double value, const char* what) {
  if (!(value > 0 && value < 1)) throw Failed(fmt::format("[statistics] a {} lies between 0 and 1: {}", what, value));
}

void check_effect(double effect) {
  if (!(std::abs(effect) > 0 && std::isfinite(effect)))
    throw Failed(fmt::format("[statistics] an effect is a number other than 0: {}", effect));
}

double level_of_each(double level, std::size_t arms) {
  return level / static_cast<double>(std::max<std::size_t>(arms, 1));
}

/// The power of a two-sided t test with the noncentrality `shift`.
double t_power(double freedom, double shift, double level) {
  const double t = student_quantile(freedom, 1 - level / 2);
  // For larger shifts, the tails are 1 and 0 in double precision, and the series would fail.
  if (shift > 30 && shift > 3 * t) return 1;
  return noncentral_above(freedom, shift, t) + noncentral_below(freedom, shift, -t);
}

/// Whether `pairs` pairs find the effect with the given power. Requires at least the number of pairs that flips need.
bool finds(double effect, std::size_t pairs, double power, double level, std::size_t arms) {
  const double each = level_of_each(level, arms);
  if (pairs > seeds_for_level(level)) return paired_power(effect, pairs, each) >= power;
  // With the minimum number of pairs, flips have slightly less power than the t test.
  return one_sign_chance(effect, pairs) >= power && paired_power(effect, pairs - 1, each) >= power;
}

/// The power of Welch's t test for arms of different sizes and equal spreads, with the degrees of freedom of the true
/// spreads. `permutation_test` finds no more than it.
double welch_power(double effect, std::size_t runs_a, std::size_t runs_b, double level) {
  const double n = static_cast<double>(runs_a), m = static_cast<double>(runs_b), both = 1 / n + 1 / m;
  const double freedom = both * both / (1 / (n * n * (n - 1)) + 1 / (m * m * (m - 1)));
  return t_power(freedom, effect / std::sqrt(both), level);
}

bool finds_unpaired(double effect, std::size_t n, std::size_t m, double power, double level) {
  if (n != m && std::min(n, m) > 1) {
    // Only completely separated runs reach the smallest p.
    const bool apart = smallest_unpaired_p(n, m) <= level / 2 || separation_chance(effect, n, m) >= power;
    return apart && welch_power(effect, n, m, level) >= power;
  }
  const bool only_apart = 2 * smallest_unpaired_p(n, m) > level;
  return (only_apart ? separation_chance(effect, n, m) : unpaired_power(effect, n, m, level)) >= power;
}

/// The smallest number that is enough, by bisection; requires that every larger number is also enough.
template <class Enough> std::size_t fewest_from(std::size_t fewest, double effect, const Enough& enough) {
  std::size_t high = fewest;
  while (!enough(high)) {
    if (high > most_seeds)
      throw Failed(fmt::format("[statistics] an effect of {} standard deviations takes more than {} seeds", effect,
                               most_seeds));
    high *= 2;
  }
  for (std::size_t low = high / 2; high > fewest && high - low > 1;) { // invariant: enough(high) and not enough(low)
    const std::size_t middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

/// The smallest effect that is enough, to about six digits.
template <class Enough> std::optional<double> least(const Enough& enough) {
  constexpr double most = 1e6, close = 1e-6;
  double low = 0, high = 1;
  for (; !enough(high); high *= 2) {
    if (high > most) return std::nullopt;
    low = high;
  }
  while (high - low > close * high) {
    const double middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

} // namespace

double smallest_p(std::size_t pairs) {
  return pairs == 0 ? 1.0 : std::ldexp(1.0, 1 - static_cast<int>(std::min<std::size_t>(pairs, 1000)));
}

std::size_t seeds_for_level(double level) {
  check_fraction(level, "level");
  std::size_t n = 1;
  while (smallest_p(n) > level) ++n;
  return n;
}

double paired_power(double effect_size, std::size_t pairs, double level) {
  check_fraction(level, "level");
  if (pairs < 2) return 0;
  const double n = static_cast<double>(pairs);
  return t_power(n - 1, std::abs(effect_size) * std::sqrt(n), level);
}

double unpaired_power(double effect_size, std::size_t n, std::size_t m, double level) {
  check_fraction(level, "level");
  if (n == 0 || m == 0 || n + m < 3) return 0;
  const double a = static_cast<double>(n), b = static_cast<double>(m);
  return t_power(a + b - 2, std::abs(effect_size) * std::sqrt(a * b / (a + b)), level);
}

double one_sign_chance(double effect_size, std::size_t pairs) {
  const double n = static_cast<double>(pairs);
  return std::pow(normal_below(effect_size), n) + std::pow(normal_below(-effect_size), n);
}

double separation_chance(double effect_size, std::size_t n, std::size_t m) {
  if (n == 0 || m == 0) return 0;
  // Integral over the maximum x of m values with mean 0: the probability that all n values with mean `shift` are above
  // x.
  const auto above = [&](double shift) {
    constexpr double reach = 9;
    constexpr int steps = 1800;
    const double width = 2 * reach / steps;
    double sum = 0;
    for (int i = 0; i <= steps; ++i) {
      const double x = -reach + i * width;
      const double density = static_cast<double>(m) * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi) *
                             std::pow(normal_below(x), static_cast<double>(m - 1));
      const double weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
      sum += weight * density * std::pow(normal_below(shift - x), static_cast<double>(n));
    }
    return sum * width / 3;
  };
  // the second term is the mirror image: all n are below
  return std::min(1.0, above(effect_size) + above(-effect_size));
}

std::size_t seeds_for_effect(double effect_size, double power, double level, std::size_t arms) {
  check_fraction(power, "power");
  check_effect(effect_size);
  const double effect = std::abs(effect_size);
  return fewest_from(seeds_for_level(level), effect,
                     [&](std::size_t n) { return finds(effect, n, power, level, arms); });
}

std::size_t unpaired_seeds_for_effect(double effect_size, double power, double level, std::size_t arms) {
  check_fraction(power, "power");
  check_fraction(level, "level");
  check_effect(effect_size);
  const double each = level_of_each(level, arms), effect = std::abs(effect_size);
  std::size_t fewest = 1;
  while (smallest_unpaired_p(fewest, fewest) > each) ++fewest;
  return fewest_from(fewest, effect, [&](std::size_t n) { return finds_unpaired(effect, n, n, power, each); });
}

std::optional<double> smallest_effect(std::size_t pairs, double power, double level, std::size_t arms) {
  check_fraction(power, "power");
  if (pairs < seeds_for_level(level)) return std::nullopt;
  return least([&](double effect) { return finds(effect, pairs, power, level, arms); });
}

std::optional<double> smallest_effect_unpaired(std::size_t n, std::size_t m, double power, double level,
                                               std::size_t arms) {
  check_fraction(power, "power");
  check_fraction(level, "level");
  const double each = level_of_each(level, arms);
  if (smallest_unpaired_p(n, m) > each) return std::nullopt;
  return least([&](double effect) { return finds_unpaired(effect, n, m, power, each); });
}

namespace {

constexpr std::uint64_t noise_seed = 0x6865'6564'706f'7772;  // its value is arbitrary
constexpr std::size_t many = 2000, fewer = 400;              // numbers of simulated sweeps
constexpr std::size_t few_flips = 1024, most_flips = 16'384; // flips times columns: about 5 and 80 microseconds
constexpr std::size_t most_runs = 6;                         // has 924 permutations

/// The standard normal noise of one simulated sweep.
class Noise {
public:
  explicit Noise(std::size_t draw) : key_{noise_seed, Stream::sampling, draw} {}
  std::vector<double> operator()(std::size_t count, double centre) {
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i) {
      if (next_ % 2 == 0) pair_ = normal_pair(key_, next_ / 2);
      out.push_back(centre + pair_[next_++ % 2]);
    }
    return out;
  }

private:
  RandomKey key_;
  std::uint64_t next_ = 0;
  std::array<double, 2> pair_{};
};

/// The mean of `share(noise)` over simulated sweeps.
template <class Share> double over_sweeps(std::size_t draws, const Share& share) {
  double sum = 0;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    Noise noise(draw);
    sum += static_cast<double>(share(noise));
  }
  return sum / static_cast<double>(draws);
}

double each(const SweepSize& sweep) { return level_of_each(sweep.level, sweep.arms); }

/// The number of column values that the flips of a sweep compute, with `columns` columns for each arm. Mirror images of
/// flips are not computed.
std::size_t work(const SweepSize& sweep, std::size_t columns) {
  constexpr std::size_t longest = 30;
  return (std::size_t{1} << (std::clamp<std::size_t>(sweep.seeds, 1, longest) - 1)) * columns * sweep.arms;
}

std::vector<SeedDifferences> differences(Noise& noise, const SweepSize& sweep, double effect) {
  std::vector<std::int64_t> seeds(sweep.seeds);
  std::iota(seeds.begin(), seeds.end(), std::int64_t{0});
  std::vector<SeedDifferences> arms;
  for (std::size_t arm = 0; arm < sweep.arms; ++arm)
    arms.push_back({seeds, noise(sweep.seeds, arm == 0 ? effect : 0.0)});
  return arms;
}

/// Two one-sided t tests of equivalence: `mean` has the standard error `error` with `freedom` degrees of freedom.
bool within(double mean, double error, double margin, double freedom, double level) {
  return student_above(freedom, (margin - std::abs(mean)) / error) <= level;
}

} // namespace

double paired_power_of(double effect_size, const SweepSize& sweep) {
  if (smallest_p(sweep.seeds) > sweep.level) return 0;
  if (work(sweep, 1) > few_flips) {
    const double power = paired_power(effect_size, sweep.seeds, each(sweep));
    const bool one_sign = 2 * smallest_p(sweep.seeds) > sweep.level;
    return one_sign ? std::min(power, one_sign_chance(effect_size, sweep.seeds)) : power;
  }
  return over_sweeps(many, [&](Noise& noise) {
    return step_down_flips(differences(noise, sweep, effect_size)).p.front() <= sweep.level;
  });
}

double unpaired_power_of(double effect_size, const SweepSize& sweep) {
  const std::size_t n = sweep.seeds;
  if (smallest_unpaired_p(n, n) > each(sweep)) return 0;
  if (n > most_runs) return unpaired_power(effect_size, n, n, each(sweep));
  return over_sweeps(many, [&](Noise& noise) {
    const std::vector<double> arm = noise(n, effect_size), reference = noise(n, 0);
    return permutation_levels(arm, reference).p <= each(sweep);
  });
}

double paired_sameness_of(double margin, const SweepSize& sweep) {
  const std::size_t n = sweep.seeds;
  if (smallest_p(n) / 2 > sweep.level || n < 2) return 0;
  // If no arm differs, the joint test has more power than Bonferroni's correction, so several arms are simulated
  // further.
  const std::size_t flips = work(sweep, 4); // two sides, and all flips
  if (flips <= few_flips || (sweep.arms > 1 && flips <= most_flips))
    return over_sweeps(flips <= few_flips ? many : fewer, [&](Noise& noise) {
      const std::vector<double> p = equivalence_by_flips(differences(noise, sweep, 0), margin);
      return static_cast<double>(std::ranges::count_if(p, [&](double p) { return p <= sweep.level; })) /
             static_cast<double>(sweep.arms);
    });
  return over_sweeps(many, [&](Noise& noise) {
    const std::vector<double> d = noise(n, 0);
    const double count = static_cast<double>(n);
    return within(mean(d), *standard_deviation(d) / std::sqrt(count), margin, count - 1, each(sweep));
  });
}

double unpaired_sameness_of(double margin, const SweepSize& sweep) {
  const std::size_t n = sweep.seeds;
  if (smallest_unpaired_p(n, n) / 2 > each(sweep) || n < 2) return 0;
  return over_sweeps(many, [&](Noise& noise) {
    std::vector<double> arm = noise(n, 0);
    const std::vector<double> reference = noise(n, 0);
    if (n > most_runs) {
      const double a = *standard_deviation(arm), b = *standard_deviation(reference), count = static_cast<double>(n);
      return within(mean(arm) - mean(reference), std::sqrt((a * a + b * b) / count), margin, 2 * count - 2,
                    each(sweep));
    }
    for (double& x : arm) x += margin;
    const double up = permutation_levels(arm, reference).p_above;
    for (double& x : arm) x -= 2 * margin;
    const double down = permutation_levels(reference, arm).p_above;
    return std::max(up, down) <= each(sweep);
  });
}

double paired_noninferiority_of(double margin, const SweepSize& sweep) {
  const std::size_t n = sweep.seeds;
  if (smallest_p(n) / 2 > sweep.level || n < 2) return 0;
  const std::size_t flips = work(sweep, 2); // all flips
  if (flips <= few_flips || (sweep.arms > 1 && flips <= most_flips))
    return over_sweeps(flips <= few_flips ? many : fewer, [&](Noise& noise) {
      std::vector<SeedDifferences> moved = differences(noise, sweep, 0);
      for (SeedDifferences& arm : moved)
        for (double& d : arm.values) d += margin;
      const std::vector<double> p = step_down_flips(moved, Sides::above).p;
      return static_cast<double>(std::ranges::count_if(p, [&](double p) { return p <= sweep.level; })) /
             static_cast<double>(sweep.arms);
    });
  return over_sweeps(many, [&](Noise& noise) {
    const std::vector<double> d = noise(n, 0);
    const double count = static_cast<double>(n), error = *standard_deviation(d) / std::sqrt(count);
    return student_above(count - 1, (margin + mean(d)) / error) <= each(sweep);
  });
}

double unpaired_noninferiority_of(double margin, const SweepSize& sweep) {
  const std::size_t n = sweep.seeds;
  if (smallest_unpaired_p(n, n) / 2 > each(sweep) || n < 2) return 0;
  return over_sweeps(many, [&](Noise& noise) {
    const std::vector<double> arm = noise(n, margin), reference = noise(n, 0);
    if (n <= most_runs) return permutation_levels(arm, reference).p_above <= each(sweep);
    const double a = *standard_deviation(arm), b = *standard_deviation(reference), count = static_cast<double>(n);
    const double error = std::sqrt((a * a + b * b) / count);
    return student_above(2 * count - 2, (mean(arm) - mean(reference)) / error) <= each(sweep);
  });
}

} // namespace heed::statistics
