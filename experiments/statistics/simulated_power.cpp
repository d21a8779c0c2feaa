#include "experiments/statistics/simulated_power.hpp"

#include "autograd/rng.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/equivalence.hpp"
#include "experiments/statistics/permutations.hpp"
#include "experiments/statistics/power.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace heed::statistics {

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

double each(const SweepSize& sweep) { return sweep.level / static_cast<double>(std::max<std::size_t>(sweep.arms, 1)); }

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

} // namespace heed::statistics
