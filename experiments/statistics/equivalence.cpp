#include "experiments/statistics/equivalence.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace heed::statistics {

namespace {

void check_margin(double margin) {
  if (!(margin > 0 && std::isfinite(margin)))
    throw Failed(fmt::format("[statistics] a margin is a number above 0: {}", margin));
}

} // namespace

std::vector<double> equivalence_by_flips(std::span<const SeedDifferences> arms, double margin) {
  check_margin(margin);
  std::vector<SeedDifferences> sides;
  for (const double sign : {1.0, -1.0})
    for (const SeedDifferences& arm : arms) {
      SeedDifferences side{arm.seeds, arm.values};
      for (double& d : side.values) d = margin + sign * d;
      sides.push_back(std::move(side));
    }
  const std::vector<double> p = step_down_flips(sides, Sides::above).p;
  std::vector<double> out(arms.size());
  for (std::size_t i = 0; i < arms.size(); ++i) out[i] = std::max(p[i], p[arms.size() + i]);
  return out;
}

std::optional<double> equivalence_p(std::span<const double> differences, double margin) {
  check_margin(margin);
  if (differences.size() < 2) return std::nullopt;
  const double centre = mean(differences), spread = *standard_deviation(differences);
  constexpr double rounding = 1e-12;
  if (spread <= rounding * std::max(std::abs(centre), margin))
    return std::abs(centre) < margin
               ? std::ldexp(1.0, -static_cast<int>(std::min<std::size_t>(differences.size(), 1000)))
               : 1.0;
  const double n = static_cast<double>(differences.size()), error = spread / std::sqrt(n);
  return std::max(student_above(n - 1, (centre + margin) / error), student_below(n - 1, (centre - margin) / error));
}

} // namespace heed::statistics
