// Shares of seeds: how many of n came to something.
#pragma once

#include "experiments/statistics/effect.hpp"

#include <cstddef>

namespace heed::statistics {

/// count / n with Clopper and Pearson's interval (1934, doi 10.1093/biomet/26.4.404). It covers the truth with at least
/// the confidence. `count` may be a half. Throws heed::Failed for n = 0, a count beyond n, and a confidence outside
/// (0, 1).
Estimate share_of(double count, std::size_t n, double confidence = 0.95);

/// What share may still come to something of which none of n did: 1 - (1 - confidence)^(1 / n), Clopper and Pearson's
/// one-sided bound. Throws heed::Failed for n = 0 and a confidence outside (0, 1).
double largest_share_of_none(std::size_t n, double confidence = 0.95);

/// Fisher's exact test of two shares, a of n and b of m, two-sided: the probability of all tables with the same sums
/// that are no more likely than this one (Fisher 1922, doi 10.2307/2340521). Throws heed::Failed for a > n or b > m.
double fisher_exact(std::size_t a, std::size_t n, std::size_t b, std::size_t m);

} // namespace heed::statistics
