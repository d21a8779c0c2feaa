#include "experiments/statistics/shares.hpp"

#include "autograd/error.hpp"
#include "experiments/statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace heed::statistics {

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

} // namespace heed::statistics
