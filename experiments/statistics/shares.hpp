// Proportions of seeds: how many of n seeds had an outcome.
#pragma once

#include "experiments/statistics/effect.hpp"

#include <cstddef>

namespace heed::statistics {

/// count / n with the Clopper-Pearson interval (1934, doi 10.1093/biomet/26.4.404), whose coverage is at least the
/// confidence. `count` may be a half-integer. Throws heed::Failed for n = 0, for a count above n, and for a confidence
/// outside (0, 1).
Estimate share_of(double count, std::size_t n, double confidence = 0.95);

/// The upper bound of the proportion of an outcome that none of n had: 1 - (1 - confidence)^(1 / n), the one-sided
/// Clopper-Pearson bound. Throws heed::Failed for n = 0 and for a confidence outside (0, 1).
double largest_share_of_none(std::size_t n, double confidence = 0.95);

/// Fisher's exact test of two proportions, a of n and b of m, two-sided: the total probability of all tables with the
/// same margins that are at most as probable as this table (Fisher 1922, doi 10.2307/2340521). Throws heed::Failed for
/// a > n or b > m.
double fisher_exact(std::size_t a, std::size_t n, std::size_t b, std::size_t m);

} // namespace heed::statistics
