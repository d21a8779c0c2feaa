#include "experiments/statistics/effect.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/shares.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed::statistics {

namespace {
constexpr double least_spread = 1e-12; // relative to the differences; a smaller spread is only rounding
}

double hedges_factor(double freedom) {
  if (!(freedom > 1)) throw Failed(fmt::format("[statistics] Hedges' factor needs more than 1 degree: {}", freedom));
  // Gamma(m/2 - 1/2) / Gamma(m/2 - 1/2 + 1/2): the ratio does not overflow, but the two values would.
  return 1 / (std::sqrt(freedom / 2) * gamma_ratio((freedom - 1) / 2, 0.5));
}

std::optional<double> effect_size(std::span<const double> differences) {
  if (differences.size() < 3) return std::nullopt;
  const double centre = mean(differences), spread = *standard_deviation(differences);
  if (!std::isfinite(spread) || spread <= least_spread * std::abs(centre)) return std::nullopt;
  return hedges_factor(static_cast<double>(differences.size() - 1)) * centre / spread;
}

Estimate probability_of_improvement(std::span<const double> differences, bool higher_is_better, double confidence) {
  if (differences.empty()) throw Failed("[statistics] the probability of improvement needs a pair");
  double better = 0;
  for (const double d : differences) better += d == 0 ? 0.5 : (d > 0) == higher_is_better ? 1 : 0;
  return share_of(better, differences.size(), confidence);
}

} // namespace heed::statistics
