// The power of a sweep with a given number of seeds. With few seeds, the power is simulated with the tests themselves.
#pragma once

#include <cstddef>

namespace heed::statistics {

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

} // namespace heed::statistics
