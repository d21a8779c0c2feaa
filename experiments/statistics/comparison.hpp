// What is known of an arm against the reference, all of it over pairs of runs with the same seed.
#pragma once

#include "experiments/statistics/paired.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heed::statistics {

struct Estimate {
  double value = 0;
  std::optional<Interval> interval;
};

/// `same`: within the margin. `underpowered`: too few pairs to reach 5 % whatever the data.
enum class Answer { differs, same, undecided, underpowered };

/// d = arm - reference, by seed.
struct Comparison {
  std::vector<std::int64_t> seeds;             ///< that both have
  PairedDifference difference;                 ///< mean, Student's t interval
  std::optional<Estimate> interquartile;       ///< interquartile mean of d with its BCa bootstrap interval (approximate)
  std::optional<double> effect_size;           ///< d_z with Hedges' correction
  std::optional<Estimate> improvement;         ///< P(arm better than the reference), Clopper-Pearson; ties count half
  std::optional<double> p_flip;                ///< sign flips of this arm alone
  std::optional<double> p_holm;                ///< Holm's correction of p_flip over the arms
  std::optional<double> p;                     ///< step-down max-|t| over all arms: what is reported
  std::optional<double> margin, p_equivalence; ///< TOST against [report] margin, where there is one
  Answer answer = Answer::undecided;
};

} // namespace heed::statistics
