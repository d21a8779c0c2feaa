// Simulated sweeps with known true effects. A sweep has a reference and some arms, each with one run per seed. The
// value of a run is the effect of its seed, which all arms share (standard deviation 1), plus noise (mean 0, standard
// deviation 1), plus the effect of the arm. Effects and margins are in units of the standard deviation of the paired
// differences, sqrt(2).
#pragma once

#include "autograd/rng.hpp"
#include "experiments/statistics/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

namespace heed::simulation {

using namespace statistics;

/// The standard deviation of the difference between two runs of one seed.
constexpr double deviation = std::numbers::sqrt2;

/// Noise with mean 0 and standard deviation 1.
struct Shape {
  std::string name;
  std::uint64_t number;
  bool symmetric;
  double (*draw)(RandomSource&);
};

inline double draw_normal(RandomSource& random) { return random.normal(); }
inline double draw_exponential(RandomSource& random) { return -std::log1p(-random.uniform()) - 1; }
/// Student's t with 3 degrees of freedom, divided by its standard deviation.
inline double draw_heavy(RandomSource& random) {
  const double z = random.normal(), a = random.normal(), b = random.normal(), c = random.normal();
  return z / std::sqrt(a * a + b * b + c * c);
}
/// exp(Z), less its mean and divided by its standard deviation: skewed, with a long tail.
inline double draw_lognormal(RandomSource& random) {
  constexpr double e = std::numbers::e;
  return (std::exp(random.normal()) - std::sqrt(e)) / std::sqrt((e - 1) * e);
}
/// Each mode has a standard deviation of 1.
constexpr double between_heaps = 15, share_in_upper_heap = 0.7;
inline double draw_heaps(RandomSource& random, double share) {
  const bool upper = random.uniform() < share;
  return (upper ? between_heaps : 0) + random.normal();
}
inline double draw_bimodal(RandomSource& random) {
  constexpr double p = share_in_upper_heap;
  return (draw_heaps(random, p) - p * between_heaps) / std::sqrt(1 + p * (1 - p) * between_heaps * between_heaps);
}

inline const Shape normal_noise{"normal", 1, true, draw_normal}, skewed_noise{"skewed", 2, false, draw_exponential},
    heavy_noise{"heavy-tailed", 3, true, draw_heavy}, bimodal_noise{"two modes", 4, false, draw_bimodal},
    lognormal_noise{"lognormal", 5, false, draw_lognormal};
inline const std::vector<Shape> shapes{normal_noise, skewed_noise, heavy_noise, bimodal_noise};

/// The quantile of the noise at `share`, estimated from random draws.
inline double quantile(const Shape& shape, double share) {
  RandomSource random({shape.number, heed::Stream::test, 0xffff});
  std::vector<double> drawn(100'000);
  for (double& x : drawn) x = shape.draw(random);
  std::ranges::sort(drawn);
  return drawn[static_cast<std::size_t>(share * static_cast<double>(drawn.size()))];
}

/// The settings of a simulated sweep.
struct Kind {
  Shape shape;
  std::size_t seeds, arms;
  std::string label;       ///< for tables
  std::uint64_t draws = 0; ///< another number gives other random draws
  double spread = 1;       ///< standard deviation of the arms' noise divided by the reference's
  bool paired = true;      ///< true: each seed has an effect, which all arms share

  std::string name() const { return fmt::format("{}, {} seeds, {} arm{}", label, seeds, arms, arms > 1 ? "s" : ""); }
  RandomSource random(std::size_t sweep) const {
    return RandomSource({(draws * 10 + shape.number) * 10'000 + seeds * 100 + arms, heed::Stream::test, sweep});
  }
};

/// The values of the reference (first) and of the arms.
using Sweep = std::vector<SeedValues>;

/// The noise of each run, without the seed effects.
inline std::vector<std::vector<double>> draw_noise(const Kind& kind, RandomSource& random) {
  std::vector<std::vector<double>> noise(kind.arms + 1);
  for (std::size_t arm = 0; arm <= kind.arms; ++arm)
    for (std::size_t s = 0; s < kind.seeds; ++s)
      noise[arm].push_back(kind.shape.draw(random) * (arm > 0 ? kind.spread : 1));
  return noise;
}

inline Sweep sweep_of(const Kind& kind, const std::vector<std::vector<double>>& noise, RandomSource& random) {
  Sweep out(kind.arms + 1);
  for (std::size_t s = 0; s < kind.seeds; ++s) {
    const double seed_effect = kind.paired ? random.normal() : 0;
    for (std::size_t arm = 0; arm <= kind.arms; ++arm) {
      out[arm].seeds.push_back(static_cast<std::int64_t>(s));
      out[arm].values.push_back(seed_effect + noise[arm][s]);
    }
  }
  return out;
}

inline Sweep draw_sweep(const Kind& kind, std::size_t number) {
  RandomSource random = kind.random(number);
  const auto noise = draw_noise(kind, random);
  return sweep_of(kind, noise, random);
}

/// The sweep with `effect` standard deviations of the differences added to the first `count` arms.
inline Sweep moved(Sweep sweep, double effect, std::size_t count = std::numeric_limits<std::size_t>::max()) {
  for (std::size_t arm = 1; arm < sweep.size() && arm <= count; ++arm)
    for (double& x : sweep[arm].values) x += effect * deviation;
  return sweep;
}

} // namespace heed::simulation
