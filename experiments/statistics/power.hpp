// How many seeds a question takes.
#pragma once

#include <cstddef>
#include <optional>

namespace heed::statistics {

/// The two-sided exact level below which `pairs` of runs cannot go, whatever the data: 2^(1 - n), the share of flips
/// that are the data themselves or their mirror image.
double smallest_p(std::size_t pairs);

/// The fewest pairs that can reach a level: 6 for 0.05. Throws heed::Failed for a level outside (0, 1).
std::size_t seeds_for_level(double level = 0.05);

/// The power of the two-sided paired t test with `pairs` of runs where the differences' mean is `effect_size` of their
/// standard deviations (d_z): 1 - F(t) + F(-t), F the non-central t distribution with n - 1 degrees of freedom and the
/// non-centrality d_z sqrt(n), t Student's quantile at 1 - level / 2 (Cohen 1988, "Statistical power analysis", 2.3.5).
double paired_power(double effect_size, std::size_t pairs, double level = 0.05);

/// The chance that n normal differences around `effect_size` of their standard deviations have all one sign,
/// Phi(d_z)^n + Phi(-d_z)^n: of sign flips' smallest p.
double one_sign_chance(double effect_size, std::size_t pairs);

/// The power of the two-sided t test of n and m runs whose means are `effect_size` of an arm's standard deviations apart:
/// as `paired_power`, with n + m - 2 degrees of freedom and the non-centrality d sqrt(n m / (n + m)) (Cohen 1988, 2.3.1).
double unpaired_power(double effect_size, std::size_t n, std::size_t m, double level = 0.05);

/// The chance that all of n normal values lie on one side of all of m others whose mean is `effect_size` of their common
/// standard deviation away: of the permutations' smallest p. By Simpson's rule.
double separation_chance(double effect_size, std::size_t n, std::size_t m);

/// About the fewest seeds with which an effect of `effect_size` standard deviations of the differences (d_z, of either
/// sign) is found with probability `power`: by the paired t test at `level` / `arms` (Bonferroni), where several arms
/// are compared, and as many at least as flips need to reach `level` at all. With so few, flips find less than the t
/// test, since only differences of one sign reach the level, and no other arm's may be as clear with other signs; so it
/// is one seed more where the t test takes no fewer, and where one sign, Phi(d_z)^n + Phi(-d_z)^n, is not that likely.
/// Simulated step-down tests of normal differences with power 0.8: 0.84 of ten arms' for 10 seeds and d_z = 1.5, 0.89
/// for 8 seeds and d_z = 2; of three arms' 0.82 for 8 seeds and d_z = 1.5, 0.92 for 7 seeds and d_z = 2.
/// Throws heed::Failed for an effect of 0, a power or a level outside (0, 1), and effects that take more than 10^7
/// seeds.
std::size_t seeds_for_effect(double effect_size, double power = 0.8, double level = 0.05, std::size_t arms = 1);

/// Likewise unpaired, by the permutation test of as many runs of each arm: an effect of so many standard deviations of an
/// arm's values. Where only runs that lie apart reach `level` / `arms`, their chance (`separation_chance`) counts, else
/// the t test. Throws as `seeds_for_effect`.
std::size_t unpaired_seeds_for_effect(double effect_size, double power = 0.8, double level = 0.05,
                                      std::size_t arms = 1);

/// About the smallest effect that so many pairs find with probability `power`: the inverse of `seeds_for_effect`, in
/// standard deviations of the differences. None where no effect is found: with fewer pairs than flips need.
/// Throws heed::Failed for a power or a level outside (0, 1).
std::optional<double> smallest_effect(std::size_t pairs, double power = 0.8, double level = 0.05, std::size_t arms = 1);

/// Likewise unpaired, of n and m runs: in standard deviations of an arm's values. None where n and m runs can't reach
/// `level` / `arms`.
std::optional<double> smallest_effect_unpaired(std::size_t n, std::size_t m, double power = 0.8, double level = 0.05,
                                               std::size_t arms = 1);

} // namespace heed::statistics
