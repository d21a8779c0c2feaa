// All that is said of arms against their reference.
#pragma once

#include "experiments/statistics/effect.hpp"
#include "experiments/statistics/paired.hpp"
#include "experiments/statistics/power.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace heed::statistics {

/// What p values are held against.
inline constexpr double significance_level = 0.05;

/// differs: p is at most 5 %. same: within the margin, by the equivalence test at 5 %, even where a difference within
/// it is found, too. undecided: neither. underpowered: fewer than 6 pairs, which can't reach 5 % whatever the data.
enum class Answer { differs, same, undecided, underpowered };
std::string_view name_of(Answer answer);

/// An arm against its reference, runs paired by seed; d = arm - reference.
struct Comparison {
  std::vector<std::int64_t> seeds;             ///< that both have; never none
  PairedDifference difference;                 ///< mean, Student's t interval
  std::optional<Estimate> interquartile;       ///< interquartile mean of d with its BCa interval (approximate)
  std::optional<double> effect_size;           ///< d_z with Hedges' correction
  std::optional<Estimate> improvement;         ///< P(arm better than the reference), Clopper-Pearson; ties count half
  std::optional<double> p_flip;                ///< sign flips of this arm alone
  std::optional<double> p_holm;                ///< Holm's correction of p_flip over the arms
  std::optional<double> p;                     ///< step-down max-|t| over all arms: what is reported
  bool exact = true;                           ///< p counts all flips; false: a sample of them (more than 20 seeds)
  std::uint64_t flips = 0;                     ///< that p counts
  std::optional<double> margin, p_equivalence; ///< TOST against [report] margin, where there is one; this arm alone
  std::optional<double> p_equivalence_holm;    ///< Holm's correction over the arms with 6 pairs: what `same` goes by
  Answer answer = Answer::undecided;
};

/// One arm's results: `values[i]` of the seed `seeds[i]`.
struct SeedValues {
  std::vector<std::int64_t> seeds;
  std::vector<double> values;
};

/// Compares each arm with its reference, and corrects for there being several; in the order of `arms`, none for an arm
/// that shares no seed with its reference, and for a reference.
/// @param reference_of  for each arm which of them is its reference; itself: it is one
///
/// p corrects over all arms that can reach 5 %. One with fewer than 6 pairs can't, so that it takes nothing from the
/// others (Tarone 1990, doi 10.2307/2531456); such arms are corrected over themselves. The equivalence tests take
/// Holm's correction, over the arms that can reach 5 %.
/// Throws heed::Failed for values that are not finite.
std::vector<std::optional<Comparison>> compare(std::span<const SeedValues> arms,
                                               std::span<const std::size_t> reference_of, bool higher_is_better,
                                               std::optional<double> margin);

} // namespace heed::statistics
