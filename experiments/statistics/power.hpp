// Power analysis: the seeds that an effect needs, and the effect that a number of seeds can find. With few seeds, the
// power is simulated with the tests themselves.
#pragma once

#include <cstddef>
#include <optional>

namespace heed::statistics {

/// The smallest two-sided exact p of `pairs` pairs of runs, with any data: 2^(1 - n), the proportion of flips that
/// equal the data or their mirror image.
double smallest_p(std::size_t pairs);

/// The smallest number of pairs that can reach a level: 6 for 0.05. Throws heed::Failed for a level outside (0, 1).
std::size_t seeds_for_level(double level = 0.05);

/// The power of the two-sided paired t test with `pairs` pairs of runs, if the mean difference is `effect_size`
/// standard deviations of the differences (d_z): 1 - F(t) + F(-t). F is the noncentral t distribution with n - 1
/// degrees of freedom and noncentrality d_z sqrt(n); t is Student's quantile at 1 - level / 2 (Cohen 1988, "Statistical
/// power analysis", 2.3.5).
double paired_power(double effect_size, std::size_t pairs, double level = 0.05);

/// The probability that n normal differences with mean `effect_size` and standard deviation 1 all have one sign,
/// Phi(d_z)^n + Phi(-d_z)^n. The sign-flip test then reaches its smallest p.
double one_sign_chance(double effect_size, std::size_t pairs);

/// The power of the two-sided t test of n and m runs whose means differ by `effect_size` standard deviations of one
/// arm: like `paired_power`, with n + m - 2 degrees of freedom and noncentrality d sqrt(n m / (n + m)) (Cohen 1988,
/// 2.3.1).
double unpaired_power(double effect_size, std::size_t n, std::size_t m, double level = 0.05);

/// The probability that all of n normal values lie on one side of all of m others, if the means differ by `effect_size`
/// of the common standard deviation. The permutation test then reaches its smallest p. Computed by Simpson's rule.
double separation_chance(double effect_size, std::size_t n, std::size_t m);

/// About the smallest number of seeds with which an effect of `effect_size` standard deviations of the differences
/// (d_z, either sign) is found with probability `power`. It is the number for the paired t test at `level` / `arms`
/// (Bonferroni over the compared arms), but at least the number that flips need to reach `level`. With so few seeds,
/// flips have less power than the t test: only differences of one sign reach the level, and no other arm may have an
/// |t| that is at least as large under another flip. So one seed is added to this minimum if the t test does not need
/// fewer seeds, or if the probability of one sign, Phi(d_z)^n + Phi(-d_z)^n, is below `power`. Simulated power of
/// step-down tests of normal differences, for a power of 0.8: ten arms, 0.84 with 10 seeds and d_z = 1.5, 0.89 with 8
/// seeds and d_z = 2; three arms, 0.82 with 8 seeds and d_z = 1.5, 0.92 with 7 seeds and d_z = 2.
/// Throws heed::Failed for an effect of 0, for a power or a level outside (0, 1), and for effects that need more than
/// 10^7 seeds.
std::size_t seeds_for_effect(double effect_size, double power = 0.8, double level = 0.05, std::size_t arms = 1);

/// Like `seeds_for_effect`, for the unpaired permutation test with equally many runs of each arm; the effect is in
/// standard deviations of an arm's values. If only completely separated runs reach `level` / `arms`, uses the
/// probability of separation (`separation_chance`), otherwise the t test. Throws as `seeds_for_effect`.
std::size_t unpaired_seeds_for_effect(double effect_size, double power = 0.8, double level = 0.05,
                                      std::size_t arms = 1);

/// About the smallest effect that `pairs` pairs find with probability `power`, in standard deviations of the
/// differences: the inverse of `seeds_for_effect`. Empty if no effect can be found, because flips need more pairs.
/// Throws heed::Failed for a power or a level outside (0, 1).
std::optional<double> smallest_effect(std::size_t pairs, double power = 0.8, double level = 0.05, std::size_t arms = 1);

/// Like `smallest_effect`, for n and m unpaired runs, in standard deviations of an arm's values. For different sizes,
/// by Welch's t test with the degrees of freedom of equal spreads (in simulations of `permutation_test` with 3 to 8
/// runs, the power is then 0.69 to 0.79 for 0.8). Empty if n and m runs cannot reach `level` / `arms`.
std::optional<double> smallest_effect_unpaired(std::size_t n, std::size_t m, double power = 0.8, double level = 0.05,
                                               std::size_t arms = 1);

/// The size of a sweep: seeds of each arm, compared arms, and the significance level.
struct SweepSize {
  std::size_t seeds = 0;
  std::size_t arms = 1;
  double level = 0.05;
};

/// With few seeds, p is discrete, and a test by flips or permutations has less power than the t test. So if a test has
/// few flips or permutations (1024 flips times arms, six runs of each arm), these functions simulate it: the proportion
/// of 2000 sweeps of normal noise, with a standard error of 1.1 percentage points. The noise is drawn with Philox and
/// always the same. With more flips or permutations, p is nearly continuous, and the power is that of the t test at
/// `level` / `arms`. The arms' noise is independent.

/// The proportion of sweeps in which the paired test (`step_down_flips`) finds an arm whose mean difference is
/// `effect_size` standard deviations of the differences (d_z), if the other arms do not differ.
double paired_power_of(double effect_size, const SweepSize& sweep);

/// The proportion of sweeps in which the unpaired test finds an arm that differs by `effect_size` standard deviations
/// of an arm. The test is `permutation_test` at `level` / `arms`, which Holm's correction requires if only one arm
/// differs.
double unpaired_power_of(double effect_size, const SweepSize& sweep);

/// The proportion of sweeps in which `equivalence_by_flips` calls an arm the same, if no arm differs; the margin is in
/// standard deviations of the differences. Several arms are simulated up to 16384 flips times arms, in 400 sweeps. For
/// more, two one-sided t tests at `level` / `arms` (Schuirmann 1987, doi 10.1007/BF01068419) are used, whose power is
/// slightly lower.
double paired_sameness_of(double margin, const SweepSize& sweep);

/// Like `paired_sameness_of`, by the permutation tests; the margin is in standard deviations of an arm's values.
double unpaired_sameness_of(double margin, const SweepSize& sweep);

/// The proportion of the arms that `noninferiority_by_flips` calls not worse (or better), if no arm differs; the margin
/// is in standard deviations of the differences. Simulated as `paired_sameness_of`; with more flips, by one-sided t
/// tests at `level` / `arms`.
double paired_noninferiority_of(double margin, const SweepSize& sweep);

/// Like `paired_noninferiority_of`, by the permutation tests; the margin is in standard deviations of an arm's values.
double unpaired_noninferiority_of(double margin, const SweepSize& sweep);

} // namespace heed::statistics
