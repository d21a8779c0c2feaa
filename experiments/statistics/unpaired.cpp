#include "experiments/statistics/unpaired.hpp"

#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/effect.hpp"
#include "experiments/statistics/summary.hpp"

#include <cmath>

namespace heed::statistics {

PairedDifference unpaired_difference(std::span<const double> a, std::span<const double> b, double confidence) {
  check_confidence(confidence);
  PairedDifference out;
  out.mean = mean(a) - mean(b);
  out.confidence = confidence;
  const auto spread_a = standard_deviation(a), spread_b = standard_deviation(b);
  if (!spread_a || !spread_b) return out;
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), va = *spread_a * *spread_a / n,
               vb = *spread_b * *spread_b / m;
  const double freedom = (va + vb) * (va + vb) / (va * va / (n - 1) + vb * vb / (m - 1));
  if (!std::isfinite(freedom) || !(freedom > 0)) return out;
  const double reach = student_quantile(freedom, (1 + confidence) / 2) * std::sqrt(va + vb);
  out.interval = Interval{out.mean - reach, out.mean + reach};
  return out;
}

std::optional<double> effect_size_unpaired(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), sa = *standard_deviation(a),
               sb = *standard_deviation(b), freedom = n + m - 2;
  const double pooled = std::sqrt(((n - 1) * sa * sa + (m - 1) * sb * sb) / freedom);
  if (!std::isfinite(pooled) || !(pooled > 0)) return std::nullopt;
  return hedges_factor(freedom) * (mean(a) - mean(b)) / pooled;
}

} // namespace heed::statistics
