// Advice on the number of seeds of a plan, from power analysis.
#pragma once

#include "experiments/sweep/plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace heed {

/// For one effect size: the seeds that it needs, and the power of the plan's seeds.
struct EffectRow {
  double effect = 0;              ///< d_z: the mean difference in standard deviations of the differences
  std::size_t seeds = 0;          ///< seeds for a power of 80 % by the paired test, if one arm is compared
  std::size_t seeds_each = 0;     ///< likewise for each of the plan's arms
  std::size_t seeds_unpaired = 0; ///< likewise by the unpaired test, if runs of one seed are uncorrelated
  /// The power of the plan's seeds for each arm, by the paired and by the unpaired test.
  double power_paired = 0, power_unpaired = 0;
  /// If the plan has a margin: the probability that the plan's test calls an arm without a difference the same, with a
  /// margin as large as the effect.
  std::optional<double> same;
  /// Likewise not worse by more than the margin, if the plan asks that.
  std::optional<double> not_worse;
};

/// The rows for d_z 0.5, 1, 1.5 and 2, or only for `effect`. Empty without comparisons. The unpaired test assumes
/// uncorrelated pairs, for which d_z is 1 / sqrt(2) of the effect in standard deviations of an arm.
/// Throws heed::Failed for an effect of 0.
std::vector<EffectRow> effect_rows(const Plan& plan, std::optional<double> effect = std::nullopt);

/// The text of `heed plan` about a sweep's seeds, in lines of about 100 columns: whether the seeds can reach 5 %, and
/// `effect_rows` as a table. Empty without comparisons.
std::string seed_advice(const Plan& plan, std::optional<double> effect = std::nullopt);

} // namespace heed
