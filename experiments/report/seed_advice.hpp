// How many seeds a plan should have.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// What an effect takes, and what the plan's seeds find of it.
struct EffectRow {
  double effect = 0;              ///< d_z: the mean difference in standard deviations of the differences
  std::size_t seeds = 0;          ///< with which one arm's is found in 80 of 100 sweeps by the paired test
  std::size_t seeds_each = 0;     ///< likewise each arm's of the plan
  std::size_t seeds_unpaired = 0; ///< likewise unpaired, where runs of one seed are no more alike than others
  /// Of the plan's seeds, for each arm: by the paired test, and by the unpaired one.
  double power_paired = 0, power_unpaired = 0;
  /// Where the plan has a margin: the chance that an arm without a difference is called the same by the plan's test,
  /// were the margin as large as the effect.
  std::optional<double> same;
};

/// Of d_z 0.5, 1, 1.5 and 2, or only of `effect`. None where there is nothing to compare. Pairs without correlation are
/// what the unpaired test is asked about: their d_z is 1 / sqrt(2) of the effect in an arm's standard deviations.
/// Throws heed::Failed for an effect of 0.
std::vector<EffectRow> effect_rows(const Plan& plan, std::optional<double> effect = std::nullopt);

/// What `heed plan` says of a sweep's seeds, in lines of some 100 columns: whether they can reach 5 % at all, and
/// `effect_rows` as a table. Empty where there is nothing to compare.
std::string seed_advice(const Plan& plan, std::optional<double> effect = std::nullopt);

} // namespace heed
