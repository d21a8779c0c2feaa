#include "experiments/statistics/summary.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <vector>

namespace heed::statistics {

double mean(std::span<const double> values) {
  if (values.empty()) throw Failed("[statistics] the mean of no values does not exist");
  double sum = 0;
  for (const double x : values) sum += x;
  return sum / static_cast<double>(values.size());
}

std::optional<double> standard_deviation(std::span<const double> values) {
  if (values.size() < 2) return std::nullopt;
  if (std::ranges::all_of(values, [&](double x) { return x == values.front(); })) return 0; // the mean is rounded
  const double centre = mean(values);
  double squares = 0;
  for (const double x : values) squares += (x - centre) * (x - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double interquartile_mean(std::span<const double> values) {
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return interquartile_mean_of_sorted(sorted);
}

double interquartile_mean_of_sorted(std::span<const double> sorted) {
  if (sorted.empty()) throw Failed("[statistics] the interquartile mean of no values does not exist");
  // Value i covers [i, i + 1] of the sample's n units; the middle half is [n / 4, 3 n / 4].
  const double n = static_cast<double>(sorted.size());
  double sum = 0;
  for (std::size_t i = sorted.size() / 4; i < sorted.size(); ++i) {
    const double from = std::max(static_cast<double>(i), n / 4), to = std::min(static_cast<double>(i) + 1, 3 * n / 4);
    if (!(to > from)) break;
    sum += (to - from) * sorted[i];
  }
  return sum / (n / 2);
}

double largest_size(std::span<const double> values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  return largest;
}

double scale_of(std::span<const double> values) {
  const double largest = largest_size(values);
  return largest > 0 ? std::ldexp(1.0, std::ilogb(largest)) : 1.0;
}

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

namespace {

double log_choose(double n, double k) { return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1); }

} // namespace

Estimate share_of(double count, std::size_t n, double confidence) {
  check_confidence(confidence);
  const double all = static_cast<double>(n);
  if (n == 0 || !(count >= 0 && count <= all))
    throw Failed(fmt::format("[statistics] a share is of one at least: {} of {}", count, n));
  Interval interval{0, 1};
  if (count > 0) interval.low = beta_quantile(count, all - count + 1, (1 - confidence) / 2);
  if (count < all) interval.high = beta_quantile(count + 1, all - count, (1 + confidence) / 2);
  return {count / all, interval};
}

double largest_share_of_none(std::size_t n, double confidence) {
  check_confidence(confidence);
  if (n == 0) throw Failed("[statistics] a share is of one at least");
  return 1 - std::pow(1 - confidence, 1 / static_cast<double>(n));
}

double fisher_exact(std::size_t a, std::size_t n, std::size_t b, std::size_t m) {
  if (a > n || b > m) throw Failed(fmt::format("[statistics] {} of {} and {} of {} are no shares", a, n, b, m));
  const auto of = [](std::size_t x) { return static_cast<double>(x); };
  const std::size_t both = a + b, least = both > m ? both - m : 0, most = std::min(n, both);
  std::vector<double> logs;
  for (std::size_t k = least; k <= most; ++k)
    logs.push_back(log_choose(of(n), of(k)) + log_choose(of(m), of(both - k)) - log_choose(of(n + m), of(both)));
  const double own = logs[a - least] + 1e-9; // equally probable tables may differ by rounding
  double p = 0;
  for (const double log : logs)
    if (log <= own) p += std::exp(log);
  return std::min(p, 1.0);
}

namespace {
constexpr std::size_t fewest = 6;
constexpr double wide = 3;
} // namespace

std::optional<double> gap_between_modes(std::span<const double> values) {
  if (values.size() < fewest) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  std::size_t at = 1; // the first value above the gap
  for (std::size_t i = 2; i < sorted.size(); ++i)
    if (sorted[i] - sorted[i - 1] > sorted[at] - sorted[at - 1]) at = i;
  const double gap = sorted[at] - sorted[at - 1],
               sides = std::max(sorted[at - 1] - sorted.front(), sorted.back() - sorted[at]);
  if (!(gap > 0) || gap < wide * sides) return std::nullopt;
  return sorted[at - 1] + gap / 2;
}

void rank_together(std::vector<double>& a, std::vector<double>& b) {
  std::vector<double> all = a;
  all.insert(all.end(), b.begin(), b.end());
  for (std::vector<double>* values : {&a, &b})
    for (double& x : *values) {
      const auto below = std::ranges::count_if(all, [&](double y) { return y < x; }),
                 equal = std::ranges::count(all, x);
      x = static_cast<double>(below) + static_cast<double>(equal + 1) / 2;
    }
}

} // namespace heed::statistics
