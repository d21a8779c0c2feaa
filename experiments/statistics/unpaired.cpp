#include "experiments/statistics/unpaired.hpp"

#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/effect.hpp"
#include "experiments/statistics/summary.hpp"

#include <cmath>

namespace heed::statistics {

namespace {

/// The standard error of the difference and its degrees of freedom.
struct WelchError {
  double value = 0, freedom = 0;
};

std::optional<WelchError> welch_error(std::span<const double> a, std::span<const double> b) {
  const auto spread_a = standard_deviation(a), spread_b = standard_deviation(b);
  if (!spread_a || !spread_b) return std::nullopt;
  const double n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), va = *spread_a * *spread_a / n,
               vb = *spread_b * *spread_b / m;
  const double freedom = (va + vb) * (va + vb) / (va * va / (n - 1) + vb * vb / (m - 1));
  if (!std::isfinite(freedom) || !(freedom > 0)) return std::nullopt;
  return WelchError{std::sqrt(va + vb), freedom};
}

} // namespace

PairedDifference unpaired_difference(std::span<const double> a, std::span<const double> b, double confidence) {
  check_confidence(confidence);
  PairedDifference out;
  out.mean = mean(a) - mean(b);
  out.confidence = confidence;
  if (const auto error = welch_error(a, b)) {
    const double reach = student_quantile(error->freedom, (1 + confidence) / 2) * error->value;
    out.interval = Interval{out.mean - reach, out.mean + reach};
  }
  return out;
}

std::optional<WelchT> welch_t(std::span<const double> a, std::span<const double> b) {
  const double difference = mean(a) - mean(b);
  const auto error = welch_error(a, b);
  return error ? std::optional(WelchT{difference / error->value, error->freedom}) : std::nullopt;
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
