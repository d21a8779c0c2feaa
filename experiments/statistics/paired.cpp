#include "experiments/statistics/paired.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/distributions.hpp"
#include "experiments/statistics/summary.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace heed::statistics {

void check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1))
    throw Failed(fmt::format("[statistics] a confidence lies between 0 and 1: {}", confidence));
}

PairedDifference paired_difference(std::span<const double> a, std::span<const double> b, double confidence) {
  if (a.size() != b.size() || a.empty())
    throw Failed(fmt::format("[statistics] paired samples need equal lengths of at least 1: {} and {} values", a.size(),
                             b.size()));
  check_confidence(confidence);
  std::vector<double> differences(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) differences[i] = a[i] - b[i];

  PairedDifference out;
  out.pairs = a.size();
  out.mean = mean(differences);
  out.confidence = confidence;
  out.standard_deviation = standard_deviation(differences);
  // Without a finite spread (a run ended in NaN), the precision is unknown.
  if (out.standard_deviation && std::isfinite(*out.standard_deviation)) {
    const double n = static_cast<double>(out.pairs);
    const double reach = student_quantile(n - 1, (1 + confidence) / 2) * *out.standard_deviation / std::sqrt(n);
    out.interval = Interval{out.mean - reach, out.mean + reach};
  }
  return out;
}

std::optional<double> pair_correlation(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size())
    throw Failed(fmt::format("[statistics] pairs are of two samples of one length: {} and {}", a.size(), b.size()));
  const auto spread_a = standard_deviation(a), spread_b = standard_deviation(b);
  if (a.size() < 3 || !(*spread_a > 0) || !(*spread_b > 0)) return std::nullopt;
  const double mean_a = mean(a), mean_b = mean(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) / *spread_a * ((b[i] - mean_b) / *spread_b);
  return std::clamp(sum / static_cast<double>(a.size() - 1), -1.0, 1.0);
}

} // namespace heed::statistics
