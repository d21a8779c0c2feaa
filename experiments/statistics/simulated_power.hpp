// What a sweep of so many seeds finds, by the tests themselves where seeds are few.
#pragma once

#include <cstddef>

namespace heed::statistics {

/// What sweeps have: seeds of each arm, arms that are compared, and what p is held against.
struct SweepSize {
  std::size_t seeds = 0;
  std::size_t arms = 1;
  double level = 0.05;
};

/// With few seeds, p goes in steps, and a test by flips or permutations finds less than the t test. So these shares are
/// of 2000 sweeps of normal noise that are drawn (Philox, always the same), known to 1.1 per cent points, wherever a test
/// takes few flips or permutations (1024 flips times arms, six runs of each arm); beyond, where p is as good as
/// continuous, they are the t test's at `level` / `arms`. Noise of arms is independent of each other.

/// The share of sweeps in which the paired test (`step_down_flips`) finds an arm whose differences lie around
/// `effect_size` of their standard deviations (d_z), where the other arms don't differ.
double paired_power_of(double effect_size, const SweepSize& sweep);

/// The share in which the unpaired one finds an arm that lies `effect_size` of an arm's standard deviations away:
/// `permutation_test` at `level` / `arms`, which is what Holm's correction asks of an arm that differs alone.
double unpaired_power_of(double effect_size, const SweepSize& sweep);

/// The share in which an arm without a difference, as all are, is called the same, by `equivalence_by_flips`; the margin
/// in standard deviations of the differences. Several arms are drawn up to 16384 flips times arms, in 400 sweeps;
/// beyond, two one-sided t tests at `level` / `arms` (Schuirmann 1987, doi 10.1007/BF01068419) find a little less.
double paired_sameness_of(double margin, const SweepSize& sweep);

/// Likewise by the permutation tests; the margin in standard deviations of an arm's values.
double unpaired_sameness_of(double margin, const SweepSize& sweep);

} // namespace heed::statistics
