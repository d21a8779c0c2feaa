// Corrections for several tests: Holm's for several comparisons, and alpha spending for interim looks at a sweep.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heed::statistics {

/// Holm's step-down correction (1979, Scandinavian Journal of Statistics 6, 65-70): the i-th smallest of m p values is
/// multiplied by m - i + 1, raised to the previous one if it is smaller, and limited to 1. Results are in the order of
/// `p`.
std::vector<double> holm(std::span<const double> p);

/// The levels of looks at n_1 < ... < n_K seeds. With the Pocock-type spending function (Lan and DeMets 1983, doi
/// 10.1093/biomet/70.3.659), alpha(t) = alpha ln(1 + (e - 1) t), the look at t_k = n_k / n_K has
///     level_k = alpha(t_k) - alpha(t_{k-1}),   alpha(0) = 0.
/// The levels add up to `level`. So the probability that any look has a false positive is at most `level` for any
/// dependence between looks (Bonferroni's inequality). Lan and DeMets' own bounds use the dependence and are less
/// strict, but they assume normal increments, which flips of six seeds do not have.
/// Throws heed::Failed unless the numbers are above 0 and increasing, and for a level outside (0, 1).
std::vector<double> look_levels(std::span<const std::size_t> looks, double level = 0.05);

/// Which of several tests can reach the level after a correction over these tests only (Tarone 1990, doi
/// 10.2307/2531456).
/// @param smallest  the smallest p of each test
std::vector<bool> that_reach(const std::vector<double>& smallest, double level);

/// Corrects p values by Holm's method over the tests that can reach the level, and the others for all tests.
std::vector<double> corrected(const std::vector<double>& p, const std::vector<bool>& reach);

} // namespace heed::statistics
