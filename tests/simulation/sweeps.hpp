// Sweeps whose truth is known. One has a reference and some arms, and as many runs of each as there are seeds. A run's
// value is its seed's own effect, which all arms share (standard deviation 1), plus noise (mean 0, standard deviation
// 1), plus the arm's effect. Effects and margins are in standard deviations of the paired differences, sqrt(2).
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

/// Of differences between two runs of one seed.
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
/// Student's t with 3 degrees of freedom, over its standard deviation.
inline double draw_heavy(RandomSource& random) {
  const double z = random.normal(), a = random.normal(), b = random.normal(), c = random.normal();
  return z / std::sqrt(a * a + b * b + c * c);
}
/// Within each mode the standard deviation is 1.
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
    heavy_noise{"heavy-tailed", 3, true, draw_heavy}, bimodal_noise{"two heaps", 4, false, draw_bimodal};
inline const std::vector<Shape> shapes{normal_noise, skewed_noise, heavy_noise, bimodal_noise};

/// The value below which a share of the noise lies, by drawing.
inline double quantile(const Shape& shape, double share) {
  RandomSource random({shape.number, heed::Stream::test, 0xffff});
  std::vector<double> drawn(100'000);
  for (double& x : drawn) x = shape.draw(random);
  std::ranges::sort(drawn);
  return drawn[static_cast<std::size_t>(share * static_cast<double>(drawn.size()))];
}

/// A kind of sweep.
struct Kind {
  Shape shape;
  std::size_t seeds, arms;
  std::string label;       ///< in tables
  std::uint64_t draws = 0; ///< others for another number
  double spread = 1;       ///< of the arms' noise over the reference's
  bool paired = true;      ///< seeds have effects of their own, which all arms share

  std::string name() const { return fmt::format("{}, {} seeds, {} arm{}", label, seeds, arms, arms > 1 ? "s" : ""); }
  RandomSource random(std::size_t sweep) const {
    return RandomSource({(draws * 10 + shape.number) * 10'000 + seeds * 100 + arms, heed::Stream::test, sweep});
  }
};

/// The reference, which comes first, and the arms.
using Sweep = std::vector<SeedValues>;

/// Noise of each run, without seeds' effects.
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

/// With the first `count` arms moved by so many standard deviations of the differences.
inline Sweep moved(Sweep sweep, double effect, std::size_t count = std::numeric_limits<std::size_t>::max()) {
  for (std::size_t arm = 1; arm < sweep.size() && arm <= count; ++arm)
    for (double& x : sweep[arm].values) x += effect * deviation;
  return sweep;
}

} // namespace heed::simulation
